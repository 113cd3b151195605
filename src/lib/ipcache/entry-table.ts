/** Entries kept as the bytes they came in, for what needs all of them at once: 24 bytes a key and 8 to 24 a value. */
import { KEY_BYTES } from './layout.ts';

const FIRST_ENTRIES = 1024;
/** Larger maps begin with so many, and grow. */
const MOST_RESERVED = 1 << 20;

export class EntryTable {
  readonly valueBytes: number;
  #keys: Uint8Array;
  #values: Uint8Array;
  #count = 0;

  /**
   * @param mostEntries room to reserve, such as a map's `maxEntries`: pages that are never written cost no memory, and
   * a table that does not grow is never held twice.
   */
  constructor(valueBytes: number, mostEntries = FIRST_ENTRIES) {
    const entries = Math.max(FIRST_ENTRIES, Math.min(mostEntries, MOST_RESERVED));
    this.valueBytes = valueBytes;
    this.#keys = new Uint8Array(entries * KEY_BYTES);
    this.#values = new Uint8Array(entries * valueBytes);
  }

  get count(): number {
    return this.#count;
  }

  /** Keys back to back; entry i begins at i × 24. Another array after the next `add`. */
  get keys(): Uint8Array {
    return this.#keys;
  }

  /** Values back to back; entry i begins at i × `valueBytes`. Another array after the next `add`. */
  get values(): Uint8Array {
    return this.#values;
  }

  /** Copies the entry whose bytes begin at the offsets. */
  add(keys: Uint8Array, key: number, values: Uint8Array, value: number): void {
    const at = this.#count * KEY_BYTES;
    if (at === this.#keys.length) this.#grow();
    for (let i = 0; i < KEY_BYTES; i++) this.#keys[at + i] = keys[key + i] as number;
    const to = this.#count * this.valueBytes;
    for (let i = 0; i < this.valueBytes; i++) this.#values[to + i] = values[value + i] as number;
    this.#count++;
  }

  /** Copies the entries `from` … `to − 1` that lie back to back. */
  addRange(keys: Uint8Array, values: Uint8Array, from: number, to: number): void {
    const after = this.#count + to - from;
    while (after * KEY_BYTES > this.#keys.length) this.#grow();
    this.#keys.set(keys.subarray(from * KEY_BYTES, to * KEY_BYTES), this.#count * KEY_BYTES);
    this.#values.set(values.subarray(from * this.valueBytes, to * this.valueBytes), this.#count * this.valueBytes);
    this.#count = after;
  }

  #grow(): void {
    this.#keys = doubled(this.#keys);
    this.#values = doubled(this.#values);
  }
}

function doubled(bytes: Uint8Array): Uint8Array {
  const larger = new Uint8Array(bytes.length * 2);
  larger.set(bytes);
  return larger;
}
