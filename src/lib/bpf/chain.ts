/** Every stored prefix that an address falls into, by lookups alone and without a listing wherever that is possible. */
import { prefixlenOf, setPrefixlen } from '../net/lpm-order.ts';
import { KeyProbe, sameBytes } from './key-probe.ts';
import type { BpfMap } from './map.ts';
import { nextKeyRestarts } from './next-key-restarts.ts';
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
    const { entries, hidden } = split(values, length);
    const { stored, undecided } = await judgeAll(map, probe, { key, entries: hidden });
    const walked = undecided.length === 0 ? [] : await walkFor(map, key, { undecided, options });
    const settled = (hidden.length === 0 || probe.firstHolds()) && sameValues(values, readValues(map, key, length));
    if (!settled && reading < MAX_READINGS) continue;
    const all = [...entries, ...stored, ...walked].sort((a, b) => b.prefixlen - a.prefixlen);
    return { entries: all, settled };
  }
}

/** What is stored for certain, because the match changes below it, and where an equal neighbour could hide. */
function split(values: readonly Uint8Array[], length: number): { entries: ChainEntry[]; hidden: ChainEntry[] } {
  const entries: ChainEntry[] = [];
  const hidden: ChainEntry[] = [];
  values.forEach((value, i) => {
    const wider = values[i + 1];
    const changes = wider === undefined || !sameBytes(value, wider);
    (changes ? entries : hidden).push({ prefixlen: length - i, value });
  });
  return { entries, hidden };
}

/** Asks next-key; what it is worth on this kernel is found out only where an answer hangs on it. */
async function judgeAll(
  map: BpfMap,
  probe: KeyProbe,
  { key, entries }: { readonly key: Uint8Array; readonly entries: readonly ChainEntry[] },
): Promise<{ stored: ChainEntry[]; undecided: ChainEntry[] }> {
  const stored: ChainEntry[] = [];
  const undecided: ChainEntry[] = [];
  const shorter = key.slice();
  if (entries.length > 0) probe.noteFirst();
  for (const entry of entries) {
    setPrefixlen(shorter, 0, entry.prefixlen);
    let presence = probe.judge(shorter, false);
    if (presence === 'undecided' && (await nextKeyRestarts(map.kernel))) presence = probe.judge(shorter, true);
    if (presence === 'present') stored.push(entry);
    else if (presence === 'undecided') undecided.push(entry);
  }
  return { stored, undecided };
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

async function walkFor(
  map: BpfMap,
  key: Uint8Array,
  { undecided, options }: { readonly undecided: readonly ChainEntry[]; readonly options: WalkOptions },
): Promise<ChainEntry[]> {
  const keys = undecided.map(({ prefixlen }) => shortened(key, prefixlen));
  const stored = await findStored(map, keys, options);
  return undecided.filter((_, i) => stored[i]);
}

function shortened(key: Uint8Array, prefixlen: number): Uint8Array {
  const shorter = key.slice();
  setPrefixlen(shorter, 0, prefixlen);
  return shorter;
}

function sameValues(a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
  return a.length === b.length && a.every((value, i) => sameBytes(value, b[i] ?? new Uint8Array(0)));
}
