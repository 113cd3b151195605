/** What the datapath finds for an address, and what it would find if that were not there: by lookups alone. */
import { findChain } from '../bpf/chain.ts';
import type { BpfMap } from '../bpf/map.ts';
import { setPrefixlen } from '../net/lpm-order.ts';
import { addressBits, type Prefix } from '../net/prefix.ts';
import { type LayoutChoice, layoutFromEvidence } from './choose-layout.ts';
import { decodeEntry, type IpcacheEntry } from './entry.ts';
import { labelOf } from './ipcache-map.ts';
import { encodeKey } from './key.ts';
import { layoutNamed, STATIC_PREFIX_BITS } from './layout.ts';
import { LayoutEvidence } from './layout-evidence.ts';

export interface ChainItem {
  readonly entry: IpcacheEntry;
  /** The key as asked for (host bits are not known from lookups) and the stored value. */
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

export interface Explanation {
  /** As given; else by the values of the chain. */
  readonly layoutChoice: LayoutChoice;
  /** Narrowest first; the first is what a lookup of the prefix finds. */
  readonly chain: readonly ChainItem[];
  /** The first of the chain is stored for exactly the prefix asked for. */
  readonly exact: boolean;
  /** False: entries kept changing while they were read. */
  readonly settled: boolean;
}

/**
 * Reads everything that covers the prefix, catch-alls included.
 * @param known the layout; undefined for a map of 12 bytes that was not walked, whose chain then has to tell it. Cluster
 * IDs lie elsewhere in some of its layouts, so such a map can be asked about the local cluster only.
 * @throws {LayoutError} when the layout has no room for the cluster ID. @throws {AmbiguousError} when the values of the
 * chain contradict each other. @throws {IncompleteError} as findChain.
 */
export async function explainPrefix(
  map: BpfMap,
  known: LayoutChoice | undefined,
  prefix: Prefix,
  signal?: AbortSignal,
): Promise<Explanation> {
  const key = encodeKey(known?.layout ?? layoutNamed('1.16'), prefix);
  const { entries, settled } = await findChain(map, key, { signal });
  const stored = entries.map(({ prefixlen, value }) => ({ key: maskedKey(key, prefixlen), value }));
  const layoutChoice = known ?? layoutOfChain(map, stored);
  const chain = stored.map((bytes): ChainItem => {
    const entry = decodeEntry(layoutChoice.layout, { keys: bytes.key, values: bytes.value });
    return { entry, ...bytes };
  });
  return { layoutChoice, chain, exact: entries[0]?.prefixlen === prefix.length + STATIC_PREFIX_BITS, settled };
}

/** Whether an address was asked for and what answers is wider than one host. */
export function lacksHostEntry(prefix: Prefix, { chain, exact }: Explanation): boolean {
  return prefix.length === addressBits(prefix.family) && chain.length > 0 && !exact;
}

function layoutOfChain(map: BpfMap, chain: readonly { key: Uint8Array; value: Uint8Array }[]): LayoutChoice {
  const evidence = new LayoutEvidence();
  for (const { key, value } of chain) evidence.observe(key, value, 1);
  return layoutFromEvidence(labelOf(map), evidence.counts);
}

function maskedKey(key: Uint8Array, prefixlen: number): Uint8Array {
  const masked = key.slice();
  setPrefixlen(masked, 0, prefixlen);
  const whole = 4 + (prefixlen >> 3);
  if (whole < masked.length) {
    masked[whole] = (masked[whole] ?? 0) & (0xff00 >> (prefixlen & 7));
    masked.fill(0, whole + 1);
  }
  return masked;
}
