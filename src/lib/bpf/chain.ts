/** Every stored prefix that an address falls into, by lookups alone and without a listing wherever that is possible. */
import { prefixlenOf, setPrefixlen } from '../net/lpm-order.ts';
import { KeyProbe, sameBytes } from './key-probe.ts';
import type { BpfMap } from './map.ts';
import { findStored } from './presence.ts';
import type { WalkOptions } from './walk.ts';

export interface ChainEntry {
  /** As in the key: counts the bits of cluster, pad and family too; below 32 the entry answers every address. */
  readonly prefixlen: number;
  readonly value: Uint8Array;
}

export interface Chain {
  /** The narrowest, which is what the datapath finds, first. Empty where nothing covers the address. */
  readonly entries: readonly ChainEntry[];
  /** False where the entries kept changing while they were read. */
  readonly settled: boolean;
}

/** Readings before a chain that keeps changing is taken as it is. */
const MAX_READINGS = 5;

/**
 * The chain of a key: what is stored at its length and at every shorter one. 161 lookups of an IPv6 address tell where
 * the longest match changes its value, and there something is stored. Between such places an entry could hide behind a
 * wider one of equal value: next-key decides that since Linux 6.13 and mostly before; where it cannot, a walk does.
 * @param key of the map's length. @throws {IncompleteError} where that walk was cut short.
 */
export async function findChain(map: BpfMap, key: Uint8Array, options: WalkOptions = {}): Promise<Chain> {
  const probe = new KeyProbe(map);
  const length = Math.min(prefixlenOf(key), (map.info.keyBytes - 4) * 8);
  for (let reading = 1; ; reading++) {
    const values = readValues(map, key, length);
    const entries: ChainEntry[] = [];
    const undecided: ChainEntry[] = [];
    for (const [i, value] of values.entries()) {
      const entry = { prefixlen: length - i, value };
      const wider = values[i + 1];
      const hidden = wider !== undefined && sameBytes(value, wider);
      const presence = hidden ? await probe.byListing(shortened(key, entry.prefixlen)) : 'present';
      if (presence === 'present') entries.push(entry);
      else if (presence === 'undecided') undecided.push(entry);
    }
    if (undecided.length > 0) await addStored(map, key, { entries, undecided, options });
    const settled = sameValues(values, readValues(map, key, length));
    if (settled || reading === MAX_READINGS) return { entries, settled };
  }
}

/** The longest match at each length, from `length` down to the last that has one. */
function readValues(map: BpfMap, key: Uint8Array, length: number): Uint8Array[] {
  const shorter = shortened(key, length);
  const values: Uint8Array[] = [];
  const value = new Uint8Array(map.info.valueBytes);
  for (let bits = length; bits >= 0; bits--) {
    setPrefixlen(shorter, 0, bits);
    if (!map.lookup(shorter, value)) break;
    values.push(value.slice());
  }
  return values;
}

interface Doubt {
  readonly entries: ChainEntry[];
  readonly undecided: readonly ChainEntry[];
  readonly options: WalkOptions;
}

async function addStored(map: BpfMap, key: Uint8Array, { entries, undecided, options }: Doubt): Promise<void> {
  const keys = undecided.map(({ prefixlen }) => shortened(key, prefixlen));
  const stored = await findStored(map, keys, options);
  entries.push(...undecided.filter((_, i) => stored[i]));
  entries.sort((a, b) => b.prefixlen - a.prefixlen);
}

function shortened(key: Uint8Array, prefixlen: number): Uint8Array {
  const shorter = key.slice();
  setPrefixlen(shorter, 0, prefixlen);
  return shorter;
}

function sameValues(a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
  return a.length === b.length && a.every((value, i) => sameBytes(value, b[i] ?? new Uint8Array(0)));
}
