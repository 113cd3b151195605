/** Short texts that repeat in a stream of bytes: what follows from each is worked out once. */

const SLOTS = 8192;
const BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/** @typeParam T what follows from a text */
export class ByteTexts<T> {
  readonly #texts: (string | undefined)[] = new Array(SLOTS);
  readonly #values: (T | undefined)[] = new Array(SLOTS);
  readonly #make: (text: string) => T;

  constructor(make: (text: string) => T) {
    this.#make = make;
  }

  /** What follows from the ASCII text between two offsets; the same as long as no other text takes its slot. */
  get(bytes: Uint8Array, from: number, to: number): T {
    let hash = BASIS;
    for (let i = from; i < to; i++) hash = Math.imul(hash ^ (bytes[i] as number), PRIME);
    const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    const known = this.#texts[slot];
    if (known !== undefined && isSame(known, bytes, from, to)) return this.#values[slot] as T;
    const text = asciiText(bytes, from, to);
    const value = this.#make(text);
    this.#texts[slot] = text;
    this.#values[slot] = value;
    return value;
  }
}

/** The ASCII text between two offsets. */
export function asciiText({ buffer, byteOffset }: Uint8Array, from: number, to: number): string {
  return Buffer.from(buffer, byteOffset + from, to - from).toString('latin1');
}

function isSame(text: string, bytes: Uint8Array, from: number, to: number): boolean {
  if (text.length !== to - from) return false;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) !== bytes[from + i]) return false;
  return true;
}
