/**
 * The prefix of a cache event as the 24 bytes of a key, straight from its text: NewKey of pkg/maps/ipcache (Cilium 1.21).
 * The cache's prefixes are canonical already; host bits would stay, and a cluster ID is cut to the bits of the layout.
 */
import { LayoutError } from '../errors.ts';
import { FAMILY_IPV4, FAMILY_IPV6, type Layout, STATIC_PREFIX_BITS } from '../ipcache/layout.ts';
import { parseAddress } from '../net/address.ts';

const DOT = 46;
const SLASH = 47;
const ADDRESS_AT = 8;

/**
 * Fills `key` from `ADDR/LEN[@CLUSTER]`.
 * @throws {LayoutError} for another cluster in a layout that has no cluster IDs
 */
export function writeEventKey(layout: Layout, prefix: string, key: Uint8Array): void {
  if (!writeIPv4(prefix, key)) writeAny(layout, prefix, key);
}

/** `A.B.C.D/LEN` without a cluster, which nearly every event has, in one pass. @returns false for any other text */
function writeIPv4(prefix: string, key: Uint8Array): boolean {
  key.fill(0);
  let number = 0;
  let at = ADDRESS_AT;
  for (let i = 0; i < prefix.length; i++) {
    const code = prefix.charCodeAt(i);
    if (code === DOT || code === SLASH) {
      if (at === ADDRESS_AT + 4) return false;
      key[at++] = number;
      number = 0;
      continue;
    }
    const digit = code - 48;
    if (digit < 0 || digit > 9) return false;
    number = number * 10 + digit;
  }
  if (at !== ADDRESS_AT + 4) return false;
  key[0] = STATIC_PREFIX_BITS + number;
  key[7] = FAMILY_IPV4;
  return true;
}

function writeAny(layout: Layout, prefix: string, key: Uint8Array): void {
  const slash = prefix.indexOf('/');
  const at = prefix.indexOf('@', slash);
  const end = at < 0 ? prefix.length : at;
  const address = parseAddress(prefix.slice(0, slash));
  const length = Number(prefix.slice(slash + 1, end));
  if (slash < 0 || address === undefined || !(length <= address.length * 8)) {
    throw new TypeError(`${prefix} is no prefix of the cache`);
  }
  key.fill(0);
  key[0] = STATIC_PREFIX_BITS + length;
  key[7] = address.length === 4 ? FAMILY_IPV4 : FAMILY_IPV6;
  key.set(address, ADDRESS_AT);
  if (at >= 0) writeCluster(layout, prefix, Number(prefix.slice(at + 1)), key);
}

function writeCluster(layout: Layout, prefix: string, clusterId: number, key: Uint8Array): void {
  const field = layout.key.clusterId;
  if (field === undefined) {
    throw new LayoutError(`Cannot write ${prefix}: layout ${layout.name} has no cluster ID`, {
      hint: 'leave entries of other clusters to a map of a newer layout',
      operands: { prefix, layout: layout.name },
    });
  }
  for (let i = 0; i < field.bytes; i++) key[field.offset + i] = Math.floor(clusterId / 256 ** i) & 0xff;
}
