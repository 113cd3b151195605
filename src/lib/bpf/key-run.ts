/** Consecutive entries of a trie's listing, in buffers that are filled again and again. */
import { compareLpmKeys } from '../net/lpm-order.ts';

export class KeyRun {
  readonly keys: Uint8Array;
  readonly values: Uint8Array;
  readonly keyBytes: number;
  /** Entries it has room for. */
  readonly capacity: number;
  /** Entries in it. */
  count = 0;
  /** The kernel said that nothing follows the last entry. */
  end = false;

  constructor(sizes: { readonly keyBytes: number; readonly valueBytes: number }, capacity: number) {
    this.keyBytes = sizes.keyBytes;
    this.capacity = capacity;
    this.keys = new Uint8Array(capacity * sizes.keyBytes);
    this.values = new Uint8Array(capacity * sizes.valueBytes);
  }

  /** Compares an entry with a key elsewhere, by listing order. */
  compare(index: number, keys: Uint8Array, offset = 0): number {
    return compareLpmKeys(this.keys, index * this.keyBytes, keys, offset, this.keyBytes - 4);
  }

  /** Entries from the first on that are in listing order: fewer than `count` where the kernel started over. */
  get ordered(): number {
    for (let i = 1; i < this.count; i++) if (this.compare(i, this.keys, (i - 1) * this.keyBytes) <= 0) return i;
    return this.count;
  }

  /** The first of the first `limit` entries, which are in order, that is listed after `key`; `limit` where none is. */
  firstAfter(key: Uint8Array, limit: number): number {
    let low = 0;
    for (let high = limit; low < high; ) {
      const middle = (low + high) >>> 1;
      if (this.compare(middle, key) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Copies a key out. */
  copyKey(index: number, out: Uint8Array): void {
    const from = index * this.keyBytes;
    for (let i = 0; i < this.keyBytes; i++) out[i] = this.keys[from + i] ?? 0;
  }
}
