/**
 * The orders in which entries are sorted for people and for snapshots. A walk delivers the trie in post-order: what lies
 * inside of a prefix comes right before it. So the order by prefix is a rearrangement, not a sort: each prefix is put in
 * front of what it covers, in one pass.
 */
import { sameDataBits } from '../net/lpm-order.ts';
import type { EntryTable } from './entry-table.ts';
import { decodeKey, hexOf, keyPrefixlen } from './key.ts';
import { FAMILY_IPV4, KEY_BYTES, type Layout } from './layout.ts';
import { soundPrefixLength } from './sound-key.ts';

/** Rows of the result, each known by its first entry. */
interface Rows {
  /** The entry after each one within its row, or END. */
  readonly next: Uint32Array;
  /** The last entry of the row that begins with this one. */
  readonly tail: Uint32Array;
  /** The first entries of all rows; those of the group at hand are `first` … `end − 1`. */
  readonly heads: Uint32Array;
  first: number;
  end: number;
}

const END = 0xffff_ffff;

/**
 * By family, cluster, address and length, wider first; dead and catch-all keys at the end by their bytes.
 * @param table filled by one walk, in its order. @returns the indexes of all entries. At most 20 bytes an entry.
 */
export function prefixOrder(table: EntryTable, layout: Layout): Uint32Array {
  const { count, keys } = table;
  const rows: Rows = {
    next: new Uint32Array(count),
    tail: new Uint32Array(count),
    heads: new Uint32Array(count),
    first: 0,
    end: 0,
  };
  // Where the rows of each family and cluster begin and end among the heads; a walk lists them one after the other.
  const groups = new Map<number, { first: number; end: number }>();
  const odd: number[] = [];
  for (let entry = 0; entry < count; entry++) {
    const group = groupOf(keys, entry * KEY_BYTES, layout);
    if (group < 0) {
      odd.push(entry);
      continue;
    }
    const known = groups.get(group);
    if (known === undefined) rows.first = rows.end;
    placeBeforeCovered(keys, entry, rows);
    if (known === undefined) groups.set(group, { first: rows.first, end: rows.end });
    else known.end = rows.end;
  }
  const order = new Uint32Array(count);
  let at = 0;
  for (const [, { first, end }] of [...groups].sort(([a], [b]) => a - b)) {
    for (let row = first; row < end; row++) {
      for (let entry = rows.heads[row] as number; entry !== END; entry = rows.next[entry] as number)
        order[at++] = entry;
    }
  }
  const text = (entry: number): string => hexOf(keys, entry * KEY_BYTES, KEY_BYTES);
  for (const entry of odd.sort((a, b) => (text(a) < text(b) ? -1 : 1))) order[at++] = entry;
  return order;
}

/**
 * By identity, and within one by the order given: a radix sort, 4 bytes an entry beside the result.
 * @param identityOf reads the number of an entry by index. @param order is left as it is.
 */
export function identityOrder(order: Uint32Array, identityOf: (entry: number) => number): Uint32Array {
  const byLowHalf = countingSort(order, (entry) => identityOf(entry) & 0xffff);
  return countingSort(byLowHalf, (entry) => identityOf(entry) >>> 16);
}

/** Stable. @param digitOf 0 … 65535 */
function countingSort(order: Uint32Array, digitOf: (entry: number) => number): Uint32Array {
  const starts = new Uint32Array(0x10001);
  for (const entry of order) (starts[digitOf(entry) + 1] as number)++;
  for (let digit = 0; digit < 0x10000; digit++)
    starts[digit + 1] = (starts[digit + 1] as number) + (starts[digit] as number);
  const sorted = new Uint32Array(order.length);
  for (const entry of order) sorted[(starts[digitOf(entry)] as number)++] = entry;
  return sorted;
}

/** Family and cluster as one number that sorts like them; −1 for keys without a prefix. */
function groupOf(keys: Uint8Array, offset: number, layout: Layout): number {
  if (soundPrefixLength(layout.key, keys, offset) < 0 && decodeKey(layout, keys, offset).prefix === undefined)
    return -1;
  const field = layout.key.clusterId;
  let cluster = field === undefined ? 0 : (keys[offset + field.offset] as number);
  if (field?.bytes === 2) cluster |= (keys[offset + field.offset + 1] as number) << 8;
  return (keys[offset + 7] === FAMILY_IPV4 ? 0 : 0x10000) + cluster;
}

/** All that the entry covers stands in the last rows of its group, as their order is that of the addresses. */
function placeBeforeCovered(keys: Uint8Array, entry: number, rows: Rows): void {
  const { next, tail, heads } = rows;
  let from = rows.end;
  while (from > rows.first && covers(keys, entry, heads[from - 1] as number)) from--;
  let last = entry;
  for (let row = from; row < rows.end; row++) {
    const head = heads[row] as number;
    next[last] = head;
    last = tail[head] as number;
  }
  next[last] = END;
  tail[entry] = last;
  heads[from] = entry;
  rows.end = from + 1;
}

function covers(keys: Uint8Array, outer: number, inner: number): boolean {
  const a = outer * KEY_BYTES;
  const b = inner * KEY_BYTES;
  const bits = keyPrefixlen(keys, a);
  if (bits > keyPrefixlen(keys, b)) return false;
  return sameDataBits(keys, a, keys, b, bits);
}
