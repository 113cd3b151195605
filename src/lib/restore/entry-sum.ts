/** A sum over entries that does not depend on their order: equal for two maps exactly when they hold the same bytes. */
import { KEY_BYTES } from '../ipcache/layout.ts';

export class EntrySum {
  #count = 0;
  #low = 0;
  #high = 0;

  get count(): number {
    return this.#count;
  }

  /** Adds the entry at the offsets. */
  add(keys: Uint8Array, key: number, values: Uint8Array, value: number, valueBytes: number): void {
    let a = 0x811c9dc5;
    let b = 0x9e3779b9;
    for (let i = 0; i < KEY_BYTES; i++) {
      const byte = keys[key + i] as number;
      a = Math.imul(a ^ byte, 0x01000193);
      b = Math.imul((b + byte) ^ (b >>> 13), 0x85ebca6b);
    }
    for (let i = 0; i < valueBytes; i++) {
      const byte = values[value + i] as number;
      a = Math.imul(a ^ byte, 0x01000193);
      b = Math.imul((b + byte) ^ (b >>> 13), 0x85ebca6b);
    }
    this.#low = (this.#low + (a ^ (a >>> 15))) | 0;
    this.#high = (this.#high + (b ^ (b >>> 16))) | 0;
    this.#count++;
  }

  equals(other: EntrySum): boolean {
    return this.#count === other.#count && this.#low === other.#low && this.#high === other.#high;
  }
}
