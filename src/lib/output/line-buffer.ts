import type { ByteWriter } from './byte-writer.ts';

const FLUSH_AT = 64 * 1024;
/** UTF-8 needs at most three bytes for each unit of a string; few strings are longer than what triggers a flush. */
const ROOM = FLUSH_AT * 3 * 2;

/** Collects text and writes it in large pieces. `flush()` must be called before the writer ends. */
export class LineBuffer {
  readonly #writer: ByteWriter;
  #text = '';
  /** Used again and again: memory outside of the heap is given back late. */
  #bytes: Buffer | undefined;

  constructor(writer: ByteWriter) {
    this.#writer = writer;
  }

  add(text: string): void {
    this.#text += text;
    if (this.#text.length >= FLUSH_AT) this.flush();
  }

  flush(): void {
    if (this.#text === '') return;
    const text = this.#text;
    this.#text = '';
    this.#bytes ??= Buffer.allocUnsafe(ROOM);
    const fits = text.length * 3 <= ROOM;
    this.#writer.write(fits ? this.#bytes.subarray(0, this.#bytes.write(text)) : Buffer.from(text));
  }
}
