/** Objects out of a JSON text that is too large to be parsed as a whole. */

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** A larger object is none of those that are wanted. */
const LONGEST_OBJECT_BYTES = 1 << 20;

/** Takes pieces of the text in order and hands out every object that lies as deep as was asked for. */
export class ObjectStream {
  readonly #depth: number;
  readonly #visit: (value: Readonly<Record<string, unknown>>) => void;
  #level = 0;
  #inText = false;
  #escaped = false;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #opened = false;
  #empty = true;

  /** @param depth 1: the objects are not within anything else; brackets and braces count. */
  constructor(depth: number, visit: (value: Readonly<Record<string, unknown>>) => void) {
    this.#depth = depth;
    this.#visit = visit;
  }

  /** Whether what holds the objects was there at all, be it empty. */
  get opened(): boolean {
    return this.#opened || this.#depth === 1;
  }

  /** Whether the text may end here. */
  get ended(): boolean {
    return this.#level === 0 && !this.#inText;
  }

  /** Nothing but white space came. */
  get empty(): boolean {
    return this.#empty;
  }

  /** @throws {SyntaxError} for what is not JSON; {RangeError} for an object that is too large. Whatever `visit` throws */
  take(chunk: Uint8Array): void {
    let start = this.#level >= this.#depth ? 0 : -1;
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i] ?? 0;
      if (byte > 32) this.#empty = false;
      if (this.#inText) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inText = false;
        continue;
      }
      if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        this.#level++;
        if (this.#level === this.#depth) {
          if (byte === OPEN_OBJECT) start = i;
        } else if (this.#level === this.#depth - 1 && byte === OPEN_ARRAY) this.#opened = true;
      } else if (this.#level === 0 && byte > 32) {
        throw new SyntaxError('neither an object nor a list');
      } else if (byte === QUOTE) {
        this.#inText = true;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        this.#level--;
        if (this.#level === this.#depth - 1 && start >= 0) {
          this.#complete(chunk.subarray(start, i + 1));
          start = -1;
        }
      }
    }
    if (start >= 0) this.#keep(chunk.subarray(start));
  }

  #keep(part: Uint8Array): void {
    this.#kept.push(Buffer.from(part));
    this.#keptBytes += part.length;
    if (this.#keptBytes > LONGEST_OBJECT_BYTES) throw new RangeError('an object is too large');
  }

  #complete(last: Uint8Array): void {
    const bytes = this.#kept.length === 0 ? last : Buffer.concat([...this.#kept, last]);
    this.#kept = [];
    this.#keptBytes = 0;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
    this.#visit(JSON.parse(text) as Readonly<Record<string, unknown>>);
  }
}
