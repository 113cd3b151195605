/**
 * The prefix of a cache event as the 24 bytes of a key: NewKey of pkg/maps/ipcache (Cilium 1.21). The cache's prefixes are
 * canonical already; host bits would stay, and a cluster ID is cut to the bits of the layout.
 */
import { PackedKey } from '../cache/packed-key.ts';
import { LayoutError } from '../errors.ts';
import { FAMILY_IPV4, FAMILY_IPV6, type Layout, STATIC_PREFIX_BITS } from '../ipcache/layout.ts';

const ADDRESS_AT = 8;

const packed = new PackedKey();

/**
 * Fills `key` from `ADDR/LEN[@CLUSTER]`.
 * @throws {LayoutError} for another cluster in a layout that has no cluster IDs
 * @throws {TypeError} for text that is no prefix of the cache
 */
export function writeEventKey(layout: Layout, prefix: string, key: Uint8Array): void {
  if (packed.read(prefix).isEndpoint) throw new TypeError(`${prefix} is no prefix of the cache`);
  writePackedKey(layout, packed, key);
}

/**
 * Fills `key` from a prefix of the cache.
 * @throws {LayoutError} as `writeEventKey`
 */
export function writePackedKey(layout: Layout, prefix: PackedKey, key: Uint8Array): void {
  key.fill(0);
  key[0] = STATIC_PREFIX_BITS + prefix.length;
  key[7] = prefix.isIPv6 ? FAMILY_IPV6 : FAMILY_IPV4;
  writeWord(key, ADDRESS_AT, prefix.w0);
  if (prefix.isIPv6) {
    writeWord(key, ADDRESS_AT + 4, prefix.w1);
    writeWord(key, ADDRESS_AT + 8, prefix.w2);
    writeWord(key, ADDRESS_AT + 12, prefix.w3);
  }
  if (prefix.clusterId !== 0) writeCluster(layout, prefix, key);
}

function writeWord(key: Uint8Array, at: number, word: number): void {
  key[at] = word >>> 24;
  key[at + 1] = word >>> 16;
  key[at + 2] = word >>> 8;
  key[at + 3] = word;
}

function writeCluster(layout: Layout, packed: PackedKey, key: Uint8Array): void {
  const field = layout.key.clusterId;
  if (field === undefined) {
    const prefix = packed.prefixText();
    throw new LayoutError(`Cannot write ${prefix}: layout ${layout.name} has no cluster ID`, {
      hint: 'leave entries of other clusters to a map of a newer layout',
      operands: { prefix, layout: layout.name },
    });
  }
  for (let i = 0; i < field.bytes; i++) key[field.offset + i] = packed.clusterId >>> (8 * i);
}
