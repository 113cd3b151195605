/**
 * The keys of the cache: canonical text. A bare address (`10.0.0.1`, `10.0.0.1@2`) is an endpoint, `ADDR/LEN[@CLUSTER]` a
 * prefix; the two are different keys even where they mean the same address, because the endpoint hides the prefix
 * (Cilium 1.21, pkg/ipcache). One string a key is all that half a million entries can afford.
 */
import { formatAddress, parseAddress } from '../net/address.ts';
import { addressBits, formatPrefix, makePrefix, type Prefix, parsePrefix } from '../net/prefix.ts';

/**
 * Makes text a key: host bits masked, v4-mapped text unmapped, cluster 0 not written.
 * @throws {UsageError} code BAD_PREFIX
 */
export function parseCacheKey(text: string): string {
  if (isCanonicalIPv4Key(text)) return text;
  const prefix = parsePrefix(text);
  if (!isEndpointKey(text)) return formatPrefix(prefix);
  const address = formatAddress(prefix.address);
  return prefix.clusterId === 0 ? address : `${address}@${prefix.clusterId}`;
}

export function isEndpointKey(key: string): boolean {
  return !key.includes('/');
}

/** The prefix a key stands for, as text: an endpoint gets its full length. */
export function prefixTextOf(key: string): string {
  if (!isEndpointKey(key)) return key;
  const bits = key.includes(':') ? 128 : 32;
  const at = key.indexOf('@');
  return at < 0 ? `${key}/${bits}` : `${key.slice(0, at)}/${bits}${key.slice(at)}`;
}

/** The endpoint that would hide a prefix. @returns undefined unless the prefix is of full length */
export function endpointKeyOf(prefixKey: string): string | undefined {
  const slash = prefixKey.indexOf('/');
  const bits = prefixKey.includes(':') ? '/128' : '/32';
  if (!prefixKey.startsWith(bits, slash)) return undefined;
  const end = slash + bits.length;
  if (end === prefixKey.length) return prefixKey.slice(0, slash);
  return prefixKey[end] === '@' ? prefixKey.slice(0, slash) + prefixKey.slice(end) : undefined;
}

/** Reads a key back exactly: a v4-mapped address stays IPv6. The text must be a key. */
export function prefixOf(key: string): Prefix {
  const at = key.indexOf('@');
  const clusterId = at < 0 ? 0 : Number(key.slice(at + 1));
  const end = at < 0 ? key.length : at;
  const slash = key.indexOf('/');
  const address = parseAddress(key.slice(0, slash < 0 ? end : slash));
  if (address === undefined) throw new TypeError(`${key} is not a cache key`);
  const family = address.length === 4 ? 'ipv4' : 'ipv6';
  const length = slash < 0 ? addressBits(family) : Number(key.slice(slash + 1, end));
  return makePrefix(address, length, clusterId);
}

const DOT = 46;
const SLASH = 47;

/** Whether text is IPv4, in the local cluster and already canonical: the case of nearly every event, without a copy. */
function isCanonicalIPv4Key(text: string): boolean {
  let value = 0;
  let octet = 0;
  let digits = 0;
  let octets = 0;
  const end = text.length;
  for (let i = 0; i <= end; i++) {
    const code = i === end ? SLASH : text.charCodeAt(i);
    if (code === DOT || code === SLASH) {
      if (digits === 0) return false;
      value = (value << 8) | octet;
      octets++;
      if (code === SLASH) return octets === 4 && (i === end || isCanonicalLength(text, i + 1, value));
      if (octets === 4) return false;
      octet = 0;
      digits = 0;
      continue;
    }
    const digit = code - 48;
    if (digit < 0 || digit > 9 || (digits > 0 && octet === 0)) return false;
    octet = octet * 10 + digit;
    if (octet > 255) return false;
    digits++;
  }
  return false;
}

function isCanonicalLength(text: string, from: number, value: number): boolean {
  const digits = text.length - from;
  if (digits < 1 || digits > 2) return false;
  let length = 0;
  for (let i = from; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return false;
    length = length * 10 + digit;
  }
  if (length > 32 || (digits === 2 && length < 10)) return false;
  return length === 32 || (value & (length === 0 ? -1 : ~(-1 << (32 - length)))) === 0;
}
