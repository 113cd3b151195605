/** Which keys have which number: a chain for each number, in columns, so that half a million of each cost a few megabytes. */
import { PackedKey } from '../cache/packed-key.ts';

/** Numbers are looked up by the high bits first: those that are in use lie close together. */
const PAGE_BITS = 10;
const PAGE_NUMBERS = 1 << PAGE_BITS;
const FIRST_KEYS = 1024;
const KEY_WORDS = 2;
const WIDE_WORDS = 3;
const TAKEN = 0xffffffff;

export class NumberedKeys {
  #keys = new Int32Array(FIRST_KEYS * KEY_WORDS);
  /** The rest of IPv6 addresses; made when the first one comes. */
  #wide: Int32Array | undefined;
  #count = 0;
  readonly #key = new PackedKey();
  /** Page → number in it → index of its newest key + 1, or `TAKEN`. */
  readonly #pages = new Map<number, Uint32Array>();
  /** Index → that of the key before it with the same number, + 1. */
  #before = new Uint32Array(FIRST_KEYS);

  add(number: number, key: PackedKey): void {
    const newest = this.#page(number);
    const at = number & (PAGE_NUMBERS - 1);
    const index = this.#count++;
    if (index === this.#before.length) this.#grow();
    this.#keys[index * KEY_WORDS] = key.w0;
    this.#keys[index * KEY_WORDS + 1] = key.meta;
    if (key.isIPv6) this.#addWide(index, key);
    this.#before[index] = newest[at] as number;
    newest[at] = index + 1;
  }

  /** The keys of a number as prefixes, the newest first; also of one that has none. @returns undefined the second time */
  take(number: number): Iterable<string> | undefined {
    const newest = this.#page(number);
    const at = number & (PAGE_NUMBERS - 1);
    const index = newest[at] as number;
    if (index === TAKEN) return undefined;
    newest[at] = TAKEN;
    return this.#from(index);
  }

  /** Every number that has keys and was not taken yet. */
  *numbers(): Generator<number, void> {
    for (const [page, newest] of this.#pages) {
      for (let at = 0; at < PAGE_NUMBERS; at++) {
        if (newest[at] !== 0 && newest[at] !== TAKEN) yield page * PAGE_NUMBERS + at;
      }
    }
  }

  *#from(index: number): Generator<string, void> {
    for (let next = index; next !== 0; next = this.#before[next - 1] as number) yield this.#prefix(next - 1);
  }

  #prefix(index: number): string {
    const key = this.#key;
    key.setIPv4(this.#keys[index * KEY_WORDS] as number, 0);
    key.meta = this.#keys[index * KEY_WORDS + 1] as number;
    if (key.isIPv6 && this.#wide !== undefined) {
      key.w1 = this.#wide[index * WIDE_WORDS] as number;
      key.w2 = this.#wide[index * WIDE_WORDS + 1] as number;
      key.w3 = this.#wide[index * WIDE_WORDS + 2] as number;
    }
    return key.prefixText();
  }

  #addWide(index: number, { w1, w2, w3 }: PackedKey): void {
    this.#wide ??= new Int32Array(this.#before.length * WIDE_WORDS);
    this.#wide[index * WIDE_WORDS] = w1;
    this.#wide[index * WIDE_WORDS + 1] = w2;
    this.#wide[index * WIDE_WORDS + 2] = w3;
  }

  #page(number: number): Uint32Array {
    const page = number >>> PAGE_BITS;
    let newest = this.#pages.get(page);
    if (newest === undefined) {
      newest = new Uint32Array(PAGE_NUMBERS);
      this.#pages.set(page, newest);
    }
    return newest;
  }

  #grow(): void {
    const before = new Uint32Array(this.#before.length * 2);
    before.set(this.#before);
    this.#before = before;
    this.#keys = doubled(this.#keys);
    if (this.#wide !== undefined) this.#wide = doubled(this.#wide);
  }
}

function doubled(words: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(words.length * 2);
  larger.set(words);
  return larger;
}
