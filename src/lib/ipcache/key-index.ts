/**
 * Finds keys by their bytes: a hash table over 24-byte keys kept back to back, for what has to know half a million keys
 * without a string for each. Two spellings of one prefix (host bits) are two keys here.
 */
import { KEY_BYTES } from './layout.ts';

const FIRST_KEYS = 1024;
/** Slots that are cheaper to wipe than to make again. */
const MOST_KEPT = 65_536;

export class KeyIndex {
  #keys: Uint8Array;
  /** Index of a key plus one; 0 is free. Twice as many as there is room for keys. */
  #slots: Int32Array;
  #count = 0;

  constructor(capacity = FIRST_KEYS) {
    const room = 2 ** Math.ceil(Math.log2(Math.max(capacity, 2)));
    this.#keys = new Uint8Array(room * KEY_BYTES);
    this.#slots = new Int32Array(room * 2);
  }

  get count(): number {
    return this.#count;
  }

  /** Keys back to back, in the order in which they were added. Another array after the next `add`. */
  get keys(): Uint8Array {
    return this.#keys;
  }

  /** @returns the index of the key whose bytes begin at `offset`, or -1. */
  find(keys: Uint8Array, offset = 0): number {
    return (this.#slots[this.#slot(keys, offset)] as number) - 1;
  }

  /** Adds the key unless it is there. @returns its index; `count` before the call when it is new. */
  add(keys: Uint8Array, offset = 0): number {
    if ((this.#count + 1) * KEY_BYTES > this.#keys.length) this.#grow();
    const slot = this.#slot(keys, offset);
    const found = this.#slots[slot] as number;
    if (found !== 0) return found - 1;
    const at = this.#count * KEY_BYTES;
    for (let i = 0; i < KEY_BYTES; i++) this.#keys[at + i] = keys[offset + i] as number;
    this.#slots[slot] = ++this.#count;
    return this.#count - 1;
  }

  /** Forgets every key; keeps the room unless it is much. */
  clear(): void {
    this.#count = 0;
    if (this.#slots.length <= MOST_KEPT) {
      this.#slots.fill(0);
      return;
    }
    this.#keys = new Uint8Array(FIRST_KEYS * KEY_BYTES);
    this.#slots = new Int32Array(FIRST_KEYS * 2);
  }

  /** Where the key is, or the free place where it belongs. */
  #slot(keys: Uint8Array, offset: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = hash(keys, offset) & mask; ; slot = (slot + 1) & mask) {
      const index = this.#slots[slot] as number;
      if (index === 0 || isSame(this.#keys, (index - 1) * KEY_BYTES, keys, offset)) return slot;
    }
  }

  #grow(): void {
    const keys = new Uint8Array(this.#keys.length * 2);
    keys.set(this.#keys);
    this.#keys = keys;
    this.#slots = new Int32Array(this.#slots.length * 2);
    for (let i = 0; i < this.#count; i++) this.#slots[this.#slot(keys, i * KEY_BYTES)] = i + 1;
  }
}

function hash(keys: Uint8Array, offset: number): number {
  let value = 0x811c9dc5;
  for (let i = offset; i < offset + KEY_BYTES; i += 4) {
    const word =
      (keys[i] as number) |
      ((keys[i + 1] as number) << 8) |
      ((keys[i + 2] as number) << 16) |
      ((keys[i + 3] as number) << 24);
    value = Math.imul(value ^ word, 0x9e3779b1);
    value ^= value >>> 15;
  }
  value = Math.imul(value, 0x85ebca6b);
  return (value ^ (value >>> 13)) >>> 0;
}

function isSame(a: Uint8Array, aOffset: number, b: Uint8Array, bOffset: number): boolean {
  // Addresses differ in their last bytes most often.
  for (let i = KEY_BYTES - 1; i >= 0; i--) if (a[aOffset + i] !== b[bOffset + i]) return false;
  return true;
}
