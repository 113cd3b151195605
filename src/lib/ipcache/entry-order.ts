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

/** Entries in a row of the result: first and last, linked by `next`. */
interface Chain {
  readonly head: number;
  tail: number;
}

const END = 0xffff_ffff;

/**
 * By family, cluster, address and length, wider first; dead and catch-all keys at the end by their bytes.
 * @param table filled by one walk, in its order. @returns the indexes of all entries. About 8 bytes an entry.
 */
export function prefixOrder(table: EntryTable, layout: Layout): Uint32Array {
  const next = new Uint32Array(table.count);
  const groups = new Map<number, Chain[]>();
  const odd: number[] = [];
  for (let entry = 0; entry < table.count; entry++) {
    const group = groupOf(table.keys, entry * KEY_BYTES, layout);
    if (group < 0) odd.push(entry);
    else placeBeforeCovered(table.keys, entry, chainsOf(groups, group), next);
  }
  const order = new Uint32Array(table.count);
  let at = 0;
  for (const group of [...groups.keys()].sort((a, b) => a - b)) {
    for (const { head } of groups.get(group) ?? []) {
      for (let entry = head; entry !== END; entry = next[entry] as number) order[at++] = entry;
    }
  }
  const text = (entry: number): string => hexOf(table.keys, entry * KEY_BYTES, KEY_BYTES);
  for (const entry of odd.sort((a, b) => (text(a) < text(b) ? -1 : 1))) order[at++] = entry;
  return order;
}

/**
 * By identity, and within one by the order given. @param identityOf reads the number of an entry by index.
 * @param order is left as it is.
 */
export function identityOrder(order: Uint32Array, identityOf: (entry: number) => number): Uint32Array {
  const byRank = (rank: number): number => identityOf(order[rank] as number);
  const ranks = Uint32Array.from(order, (_, rank) => rank);
  ranks.sort((a, b) => byRank(a) - byRank(b) || a - b);
  return ranks.map((rank) => order[rank] as number);
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

function chainsOf(groups: Map<number, Chain[]>, group: number): Chain[] {
  let chains = groups.get(group);
  if (chains === undefined) {
    chains = [];
    groups.set(group, chains);
  }
  return chains;
}

/** All that the entry covers stands at the end of the chains, as their order is that of the addresses. */
function placeBeforeCovered(keys: Uint8Array, entry: number, chains: Chain[], next: Uint32Array): void {
  let first = chains.length;
  while (first > 0 && covers(keys, entry, (chains[first - 1] as Chain).head)) first--;
  next[entry] = END;
  const chain: Chain = { head: entry, tail: entry };
  for (let i = first; i < chains.length; i++) {
    const covered = chains[i] as Chain;
    next[chain.tail] = covered.head;
    chain.tail = covered.tail;
  }
  chains.length = first;
  chains.push(chain);
}

function covers(keys: Uint8Array, outer: number, inner: number): boolean {
  const a = outer * KEY_BYTES;
  const b = inner * KEY_BYTES;
  const bits = keyPrefixlen(keys, a);
  if (bits > keyPrefixlen(keys, b)) return false;
  return sameDataBits(keys, a, keys, b, bits);
}
