/**
 * The order in which the kernel lists an LPM trie, as a comparison of two keys: post-order, so a narrower prefix comes
 * before the wider one that covers it, and a 0 bit before a 1 bit. After trie_get_next_key in kernel/bpf/lpm_trie.c
 * (Linux 4.16 to 6.18). A key is `prefixlen`, u32 little endian, then the data bytes that it counts bits of, from the
 * first byte's highest bit on; what an address is plays no part in it.
 */

/** Bytes of `prefixlen` before the data. */
const LENGTH_BYTES = 4;
/** Data bytes of an ipcache key. */
const IPCACHE_DATA_BYTES = 20;

/** The key's `prefixlen`, which may be any u32 in foreign bytes. */
export function prefixlenOf(keys: Uint8Array, offset = 0): number {
  const low = (keys[offset] ?? 0) | ((keys[offset + 1] ?? 0) << 8) | ((keys[offset + 2] ?? 0) << 16);
  return low + (keys[offset + 3] ?? 0) * 0x1000000;
}

/** Writes `prefixlen`, 0 … 2^32 − 1. */
export function setPrefixlen(keys: Uint8Array, offset: number, prefixlen: number): void {
  keys[offset] = prefixlen & 0xff;
  keys[offset + 1] = (prefixlen >>> 8) & 0xff;
  keys[offset + 2] = (prefixlen >>> 16) & 0xff;
  keys[offset + 3] = prefixlen >>> 24;
}

/**
 * Compares two keys by their place in the kernel's listing. Bits beyond a key's length (host bits) do not count: two
 * spellings of one prefix are equal. No trie stores a length beyond its data; such a key ranks just before the longest
 * possible one. Allocates nothing.
 * @returns below 0 when `a` is listed before `b`, 0 for the same prefix, above 0 otherwise.
 */
export function compareLpmKeys(
  a: Uint8Array,
  aOffset: number,
  b: Uint8Array,
  bOffset: number,
  dataBytes = IPCACHE_DATA_BYTES,
): number {
  const aLength = prefixlenOf(a, aOffset);
  const bLength = prefixlenOf(b, bOffset);
  let bits = dataBytes * 8;
  if (aLength < bits) bits = aLength;
  if (bLength < bits) bits = bLength;
  const whole = bits >>> 3;
  const aData = aOffset + LENGTH_BYTES;
  const bData = bOffset + LENGTH_BYTES;
  for (let i = 0; i < whole; i++) {
    const difference = (a[aData + i] as number) - (b[bData + i] as number);
    if (difference !== 0) return difference;
  }
  const rest = bits & 7;
  if (rest !== 0) {
    const drop = 8 - rest;
    const difference = ((a[aData + whole] as number) >>> drop) - ((b[bData + whole] as number) >>> drop);
    if (difference !== 0) return difference;
  }
  return bLength - aLength;
}

/** Whether the first `bits` bits of two keys' data agree. */
export function sameDataBits(a: Uint8Array, aOffset: number, b: Uint8Array, bOffset: number, bits: number): boolean {
  const aData = aOffset + LENGTH_BYTES;
  const bData = bOffset + LENGTH_BYTES;
  const whole = bits >>> 3;
  for (let i = 0; i < whole; i++) if (a[aData + i] !== b[bData + i]) return false;
  const rest = bits & 7;
  return rest === 0 || (((a[aData + whole] ?? 0) ^ (b[bData + whole] ?? 0)) & (0xff00 >> rest) & 0xff) === 0;
}

/** Bit `index` of a key's data, counted from the highest bit of its first byte; 0 beyond the buffer. */
export function dataBit(keys: Uint8Array, offset: number, index: number): 0 | 1 {
  return (((keys[offset + LENGTH_BYTES + (index >>> 3)] ?? 0) >>> (7 - (index & 7))) & 1) as 0 | 1;
}
