/** The labels that a prefix has by itself, as texts, straight from its text: for very many prefixes at once. */
import type { IdentityOptions } from '../identity/options.ts';

/** @param prefix canonical `ADDR/LEN`. @returns what `cidrLabels` gives, in canonical order */
export function guessedLabelTexts(
  prefix: string,
  options: Pick<IdentityOptions, 'enableIPv4' | 'enableIPv6'>,
): string[] {
  const isIPv6 = prefix.includes(':');
  const world = isIPv6
    ? `reserved:${options.enableIPv4 ? 'world-ipv6' : 'world'}`
    : `reserved:${options.enableIPv6 ? 'world-ipv4' : 'world'}`;
  if (prefix.endsWith('/0')) return [world];
  return [`cidr:${isIPv6 ? dashed(prefix) : prefix}`, world];
}

/** `:` is written `-`, with a `0` where the address would begin or end so. */
function dashed(prefix: string): string {
  const slash = prefix.indexOf('/');
  const text = prefix.slice(0, slash).replaceAll(':', '-');
  return `${text.startsWith('-') ? '0' : ''}${text}${text.endsWith('-') ? '0' : ''}${prefix.slice(slash)}`;
}
