/** The prefixes of a reading, back to back: 20 bytes each, as in EntryRow.sortKey. */
import { SORT_KEY_BYTES } from '../snapshot/entry-row.ts';

const FIRST_PREFIXES = 4096;

export class PrefixTable {
  #bytes = new Uint8Array(FIRST_PREFIXES * SORT_KEY_BYTES);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(sortKey: Uint8Array): void {
    const at = this.#count * SORT_KEY_BYTES;
    if (at === this.#bytes.length) {
      const larger = new Uint8Array(this.#bytes.length * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    for (let i = 0; i < SORT_KEY_BYTES; i++) this.#bytes[at + i] = sortKey[i] as number;
    this.#count++;
  }

  /** @param visit gets the same array every time */
  visit(visit: (sortKey: Uint8Array) => void): void {
    const sortKey = new Uint8Array(SORT_KEY_BYTES);
    const end = this.#count * SORT_KEY_BYTES;
    for (let at = 0; at < end; at += SORT_KEY_BYTES) {
      for (let i = 0; i < SORT_KEY_BYTES; i++) sortKey[i] = this.#bytes[at + i] as number;
      visit(sortKey);
    }
  }
}
