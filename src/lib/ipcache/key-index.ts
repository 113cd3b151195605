/**
 * Finds keys by their bytes: a hash table over 24-byte keys kept back to back, for what has to know half a million keys
 * without a string for each. Two spellings of one prefix (host bits) are two keys here.
 */
import { KEY_BYTES } from './layout.ts';

const KEY_WORDS = KEY_BYTES / 4;
const FIRST_KEYS = 1024;
/** A key or two may lie in between. */
const NEAR_KEYS = 4;
/** Slots that are cheaper to wipe than to make again. */
const MOST_KEPT = 65_536;

export class KeyIndex {
  #keys: Uint8Array;
  /** The same memory: six words are compared faster than 24 bytes. */
  #words: Int32Array;
  /** The key that is asked for, wherever it came from, at an address that words can be read from. */
  readonly #asked = new Uint8Array(KEY_BYTES);
  readonly #askedWords = new Int32Array(this.#asked.buffer);
  /** Index of a key plus one; 0 is free. Twice as many as there is room for keys. */
  #slots: Int32Array;
  #count = 0;

  constructor(capacity = FIRST_KEYS) {
    const room = 2 ** Math.ceil(Math.log2(Math.max(capacity, 2)));
    this.#keys = new Uint8Array(room * KEY_BYTES);
    this.#words = new Int32Array(this.#keys.buffer);
    this.#slots = new Int32Array(room * 2);
  }

  get count(): number {
    return this.#count;
  }

  /** Keys back to back, in the order in which they were added. Another array after the next `add`. */
  get keys(): Uint8Array {
    return this.#keys;
  }

  /**
   * @param near the index of a key that the one asked for probably follows: then no slot has to be looked at, each of
   * which is far from the one before
   * @returns the index of the key whose bytes begin at `offset`, or -1.
   */
  find(keys: Uint8Array, offset = 0, near = -1): number {
    this.#ask(keys, offset);
    const end = near < 0 ? 0 : Math.min(near + NEAR_KEYS, this.#count);
    for (let i = near + 1; i < end; i++) if (isSame(this.#words, i * KEY_WORDS, this.#askedWords)) return i;
    return (this.#slots[this.#slot()] as number) - 1;
  }

  /** Adds the key unless it is there. @returns its index; `count` before the call when it is new. */
  add(keys: Uint8Array, offset = 0): number {
    if ((this.#count + 1) * KEY_BYTES > this.#keys.length) this.#grow();
    this.#ask(keys, offset);
    const slot = this.#slot();
    const found = this.#slots[slot] as number;
    if (found !== 0) return found - 1;
    const at = this.#count * KEY_WORDS;
    for (let i = 0; i < KEY_WORDS; i++) this.#words[at + i] = this.#askedWords[i] as number;
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
    this.#words = new Int32Array(this.#keys.buffer);
    this.#slots = new Int32Array(FIRST_KEYS * 2);
  }

  #ask(keys: Uint8Array, offset: number): void {
    const asked = this.#asked;
    for (let i = 0; i < KEY_BYTES; i++) asked[i] = keys[offset + i] as number;
  }

  /** Where the key that is asked for is, or the free place where it belongs. */
  #slot(): number {
    const slots = this.#slots;
    const asked = this.#askedWords;
    const mask = slots.length - 1;
    for (let slot = hash(asked) & mask; ; slot = (slot + 1) & mask) {
      const index = slots[slot] as number;
      if (index === 0 || isSame(this.#words, (index - 1) * KEY_WORDS, asked)) return slot;
    }
  }

  #grow(): void {
    const keys = new Uint8Array(this.#keys.length * 2);
    keys.set(this.#keys);
    this.#keys = keys;
    this.#words = new Int32Array(keys.buffer);
    this.#slots = new Int32Array(this.#slots.length * 2);
    for (let i = 0; i < this.#count; i++) {
      this.#ask(keys, i * KEY_BYTES);
      this.#slots[this.#slot()] = i + 1;
    }
  }
}

function hash(words: Int32Array): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < KEY_WORDS; i++) {
    value = Math.imul(value ^ (words[i] as number), 0x9e3779b1);
    value ^= value >>> 15;
  }
  value = Math.imul(value, 0x85ebca6b);
  return (value ^ (value >>> 13)) >>> 0;
}

function isSame(all: Int32Array, at: number, key: Int32Array): boolean {
  for (let i = 0; i < KEY_WORDS; i++) if (all[at + i] !== key[i]) return false;
  return true;
}
