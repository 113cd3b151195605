/** Which keys have which number: a chain for each number, in columns, so that half a million of each cost a few megabytes. */

/** Numbers are looked up by the high bits first: those that are in use lie close together. */
const PAGE_BITS = 10;
const PAGE_NUMBERS = 1 << PAGE_BITS;
const FIRST_KEYS = 1024;
const TAKEN = 0xffffffff;

export class NumberedKeys {
  readonly #keys: string[] = [];
  /** Page → number in it → index of its newest key + 1, or `TAKEN`. */
  readonly #pages = new Map<number, Uint32Array>();
  /** Index → that of the key before it with the same number, + 1. */
  #before = new Uint32Array(FIRST_KEYS);

  add(number: number, key: string): void {
    const newest = this.#page(number);
    const at = number & (PAGE_NUMBERS - 1);
    const index = this.#keys.push(key) - 1;
    if (index === this.#before.length) this.#grow();
    this.#before[index] = newest[at] as number;
    newest[at] = index + 1;
  }

  /** The keys of a number, the newest first; also of one that has none. @returns undefined the second time */
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
    for (let next = index; next !== 0; next = this.#before[next - 1] as number) yield this.#keys[next - 1] as string;
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
    const larger = new Uint32Array(this.#before.length * 2);
    larger.set(this.#before);
    this.#before = larger;
  }
}
