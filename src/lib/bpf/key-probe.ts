/**
 * Whether exactly this key is stored in an LPM trie, asked without a walk. A lookup answers with the longest match and
 * does not say which; next-key of a key that is gone answers something else. Each says enough in some cases.
 */
import { compareLpmKeys, prefixlenOf, setPrefixlen } from '../net/lpm-order.ts';
import type { BpfMap } from './map.ts';
import { nextKeyRestarts } from './next-key-restarts.ts';

export type Presence = 'present' | 'absent' | 'undecided';

/** Readings that a changing map may spoil before the answer is `undecided`. */
const MAX_READINGS = 8;

export class KeyProbe {
  readonly #map: BpfMap;
  readonly #dataBytes: number;
  readonly #wider: Uint8Array;
  readonly #first: Uint8Array;
  readonly #next: Uint8Array;
  readonly #values: readonly [Uint8Array, Uint8Array, Uint8Array];

  constructor(map: BpfMap) {
    const { keyBytes, valueBytes } = map.info;
    this.#map = map;
    this.#dataBytes = keyBytes - 4;
    this.#wider = new Uint8Array(keyBytes);
    this.#first = new Uint8Array(keyBytes);
    this.#next = new Uint8Array(keyBytes);
    this.#values = [new Uint8Array(valueBytes), new Uint8Array(valueBytes), new Uint8Array(valueBytes)];
  }

  /**
   * By the longest match at the key's length n and at n − 1: where they differ, something of length n is there.
   * @returns `undecided` where both have the same value: nothing is stored at n, or a neighbour has an equal value.
   */
  byLookup(key: Uint8Array): Presence {
    const length = prefixlenOf(key);
    if (length > this.#dataBytes * 8) return 'absent';
    const [value, widerValue, valueAgain] = this.#values;
    this.#wider.set(key.subarray(0, this.#wider.length));
    setPrefixlen(this.#wider, 0, Math.max(length - 1, 0));
    for (let reading = 0; reading < MAX_READINGS; reading++) {
      if (!this.#map.lookup(key, value)) return 'absent';
      const differs = length === 0 || !this.#map.lookup(this.#wider, widerValue) || !sameBytes(value, widerValue);
      if (!differs) return 'undecided';
      // A wider entry that changed between the two lookups looks like a narrower one: the first must still hold.
      if (this.#map.lookup(key, valueAgain) && sameBytes(value, valueAgain)) return 'present';
    }
    return 'undecided';
  }

  /**
   * By next-key, which answers the first key, that never follows any, only for a key that is not there.
   * @param restarts whether next-key of any absent key is the first key (Linux 6.13); before, it may follow a neighbour.
   */
  byNextKey(key: Uint8Array, restarts: boolean): Presence {
    for (let reading = 0; reading < MAX_READINGS; reading++) {
      if (!this.noteFirst()) return 'absent';
      const presence = this.judge(key, restarts);
      if (this.firstHolds()) return presence;
    }
    return 'undecided';
  }

  /** By next-key alone; finds out what this kernel's next-key is worth only where the answer hangs on it. */
  async byListing(key: Uint8Array): Promise<Presence> {
    const presence = this.byNextKey(key, false);
    if (presence !== 'undecided' || !(await nextKeyRestarts(this.#map.kernel))) return presence;
    return this.byNextKey(key, true);
  }

  /** Notes the map's first key, for any number of `judge`. @returns false for an empty map. */
  noteFirst(): boolean {
    return this.#map.nextKey(undefined, this.#first);
  }

  /** As byNextKey in one call; what it says counts only if the noted first key still is the first afterwards. */
  judge(key: Uint8Array, restarts: boolean): Presence {
    if (prefixlenOf(key) > this.#dataBytes * 8) return 'absent';
    if (!this.#map.nextKey(key, this.#next)) return restarts ? 'present' : 'undecided';
    if (this.#compare(this.#next, this.#first) === 0 || this.#compare(this.#next, key) <= 0) return 'absent';
    return restarts ? 'present' : 'undecided';
  }

  /** Whether the noted first key is the first still. */
  firstHolds(): boolean {
    return this.#map.nextKey(undefined, this.#next) && this.#compare(this.#next, this.#first) === 0;
  }

  /** Whether a listing that started over would show: the first key of the map is not listed after `key`. */
  startsBy(key: Uint8Array): boolean {
    return this.noteFirst() && this.#compare(this.#first, key) <= 0;
  }

  #compare(a: Uint8Array, b: Uint8Array): number {
    return compareLpmKeys(a, 0, b, 0, this.#dataBytes);
  }
}

/** Whether two values of one length are equal. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
