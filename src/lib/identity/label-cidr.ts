/** Prefixes inside the keys of `cidr` labels: `:` is written `-`, with a `0` where the address would begin or end so. */
import { formatAddress, parseAddress } from '../net/address.ts';
import { maskAddress, samePrefixBits } from '../net/prefix.ts';

export interface LabelCidr {
  /** 4 or 16 bytes, host bits kept; v4-mapped ones stay IPv6. */
  readonly address: Uint8Array;
  readonly length: number;
}

/** The key of the label of a prefix: masked, `fd00::/8` → `fd00--0/8`, `::1/128` → `0--1/128`. */
export function labelKeyOf(cidr: LabelCidr): string {
  const text = formatAddress(maskAddress(cidr.address, cidr.length));
  const dashes = text.replaceAll(':', '-');
  const key = `${dashes.startsWith('-') ? '0' : ''}${dashes}${dashes.endsWith('-') ? '0' : ''}`;
  return `${key}/${cidr.length}`;
}

/** Reads a label key back. @returns undefined when it is no prefix; host bits and v4-mapped addresses are kept */
export function parseLabelCidr(key: string): LabelCidr | undefined {
  return parseCidr(key.replaceAll('-', ':'));
}

/** Reads `ADDR/LEN` as Go's netip does: no zones, no leading zeros. @returns undefined when it is none */
export function parseCidr(text: string): LabelCidr | undefined {
  const slash = text.lastIndexOf('/');
  if (slash < 0) return undefined;
  const address = parseAddress(text.slice(0, slash));
  const bits = text.slice(slash + 1);
  if (address === undefined || !/^(0|[1-9][0-9]{0,2})$/.test(bits)) return undefined;
  const length = Number(bits);
  return length <= address.length * 8 ? { address, length } : undefined;
}

/** `ADDR/LEN`, host bits as they are. */
export function formatCidr(cidr: LabelCidr): string {
  return `${formatAddress(cidr.address)}/${cidr.length}`;
}

/** Whether `outer` covers the address of `inner` and is not longer; v4 and v4-mapped never meet. */
export function cidrContains(outer: LabelCidr, inner: LabelCidr): boolean {
  if (outer.address.length !== inner.address.length || outer.length > inner.length) return false;
  return samePrefixBits(outer.address, inner.address, outer.length);
}
