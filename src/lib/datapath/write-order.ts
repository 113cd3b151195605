/** In which order changes reach the map. */

import { KEY_BYTES } from '../ipcache/layout.ts';
import { compareLpmKeys, prefixlenOf, sameDataBits } from '../net/lpm-order.ts';

const LENGTHS = 161;

/**
 * Sorts indices of keys so that a narrower prefix comes before every wider one: an address never gets what a wider entry
 * says while its own entry is on the way. Stable within a length.
 */
export function narrowestFirst(keys: Uint8Array, indices: readonly number[]): number[] {
  const starts = new Uint32Array(LENGTHS + 1);
  const rank = (index: number): number => LENGTHS - 1 - Math.min(prefixlenOf(keys, index * KEY_BYTES), LENGTHS - 1);
  for (const index of indices) starts[rank(index) + 1] = (starts[rank(index) + 1] as number) + 1;
  for (let i = 1; i <= LENGTHS; i++) starts[i] = (starts[i] as number) + (starts[i - 1] as number);
  const sorted = new Array<number>(indices.length);
  for (const index of indices) {
    const at = starts[rank(index)] as number;
    sorted[at] = index;
    starts[rank(index)] = at + 1;
  }
  return sorted;
}

/** Keys in listing order, to ask whether one of them lies inside another prefix. */
export class NarrowerKeys {
  readonly #keys: Uint8Array;
  readonly #order: readonly number[];

  /** @param indices of the keys that count */
  constructor(keys: Uint8Array, indices: readonly number[]) {
    this.#keys = keys;
    this.#order = [...indices].sort((a, b) => compareLpmKeys(keys, a * KEY_BYTES, keys, b * KEY_BYTES));
  }

  /** Whether the key covers one of them. Whatever it covers is listed directly before it, so the last one before it tells. */
  anyWithin(keys: Uint8Array, offset: number): boolean {
    let low = 0;
    let high = this.#order.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = (this.#order[middle] as number) * KEY_BYTES;
      if (compareLpmKeys(this.#keys, other, keys, offset) < 0) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return false;
    const before = (this.#order[low - 1] as number) * KEY_BYTES;
    const length = prefixlenOf(keys, offset);
    return prefixlenOf(this.#keys, before) > length && sameDataBits(this.#keys, before, keys, offset, length);
  }
}
