import type { ByteWriter } from './byte-writer.ts';

const FLUSH_AT = 64 * 1024;

/** Collects text and writes it in large pieces. `flush()` must be called before the writer ends. */
export class LineBuffer {
  readonly #writer: ByteWriter;
  #text = '';

  constructor(writer: ByteWriter) {
    this.#writer = writer;
  }

  add(text: string): void {
    this.#text += text;
    if (this.#text.length >= FLUSH_AT) this.flush();
  }

  flush(): void {
    if (this.#text === '') return;
    const bytes = Buffer.from(this.#text);
    this.#text = '';
    this.#writer.write(bytes);
  }
}
