/**
 * The key as Cilium's agent makes and prints it: NewKey, Key.String and Key.Prefix of pkg/maps/ipcache (1.21-dev). Host
 * bits stay, v4-mapped is IPv6, padding is not looked at, and an invalid prefix still becomes some key.
 */
import { formatNetipPrefix, type NetipPrefix, netipPrefixFrom, ZERO_ADDR } from '../net/netip.ts';
import { keyClusterId, keyPrefixlen } from './key.ts';
import { FAMILY_IPV4, FAMILY_IPV6, KEY_BYTES, type Layout, layoutNamed, STATIC_PREFIX_BITS } from './layout.ts';

/** @param clusterId cut to its low 16 bits. @returns 24 bytes in layout v2; prefixlen 31 for an invalid prefix. */
export function newKey(prefix: NetipPrefix, clusterId: number): Uint8Array {
  const key = new Uint8Array(KEY_BYTES);
  const { bytes } = prefix.addr;
  key[0] = STATIC_PREFIX_BITS + prefix.bits;
  key[4] = clusterId & 0xff;
  key[5] = (clusterId >>> 8) & 0xff;
  key[7] = bytes.length === 4 ? FAMILY_IPV4 : bytes.length === 16 ? FAMILY_IPV6 : 0;
  key.set(bytes, 8);
  return key;
}

/** The prefix with the host bits as stored; an unknown family or an impossible length is the invalid prefix. */
export function keyPrefix(keys: Uint8Array, offset = 0): NetipPrefix {
  const family = keys[offset + 7];
  const bytes = family === FAMILY_IPV4 ? 4 : family === FAMILY_IPV6 ? 16 : 0;
  if (bytes === 0) return { addr: ZERO_ADDR, bits: -1 };
  const addr = { bytes: keys.slice(offset + 8, offset + 8 + bytes), zone: '' };
  return netipPrefixFrom(addr, keyPrefixlen(keys, offset) - STATIC_PREFIX_BITS);
}

/** `ADDR/LEN`, `@CLUSTER` when not 0; `<unknown>` for another family, `invalid Prefix` for an impossible length. */
export function ciliumKeyString(keys: Uint8Array, offset = 0, layout: Layout = layoutNamed('v2')): string {
  const prefix = keyPrefix(keys, offset);
  if (prefix.addr.bytes.length === 0) return '<unknown>';
  const clusterId = keyClusterId(layout, keys, offset);
  return clusterId === 0 ? formatNetipPrefix(prefix) : `${formatNetipPrefix(prefix)}@${clusterId}`;
}
