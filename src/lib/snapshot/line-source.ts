/** The lines of a snapshot file with what must be known of them at its end: how many they were, and their sum. */
import { createHash } from 'node:crypto';
import { countLines } from './count-lines.ts';
import { badLine, cutOff } from './damage.ts';
import { fileChunks, GzipCutOff, unzipped } from './file-chunks.ts';
import { type LastLine, LONGEST_LINE_BYTES, lineBlocks } from './line-blocks.ts';

export class LineSource {
  readonly file: string;
  readonly #blocks: AsyncGenerator<Uint8Array, LastLine>;
  readonly #hash = createHash('sha256');
  #rest: Uint8Array | undefined;
  #last: LastLine | undefined;
  #line = 1;

  /** @param chunks the bytes, plain or gzip, where they do not have to be read from the file */
  constructor(file: string, chunks: AsyncIterable<Uint8Array> = fileChunks(file)) {
    this.file = file;
    this.#blocks = lineBlocks(unzipped(chunks, file));
  }

  /** Number of the first line that was not consumed. */
  get line(): number {
    return this.#line;
  }

  /** The last line of the file; only when {@link peek} has nothing more. */
  get last(): LastLine {
    if (this.#last === undefined) throw new TypeError('the file has not been read to its end');
    return this.#last;
  }

  /**
   * Whole lines that were not consumed yet, valid until the next call; undefined when only the last line is left.
   * @throws {ToolError} when the file cannot be read; {MalformedError} when it is cut off or damaged as gzip
   */
  async peek(): Promise<Uint8Array | undefined> {
    if (this.#rest !== undefined && this.#rest.length > 0) return this.#rest;
    if (this.#last !== undefined) return undefined;
    try {
      const step = await this.#blocks.next();
      if (step.done === true) this.#last = step.value;
      this.#rest = step.done === true ? undefined : step.value;
      return this.#rest;
    } catch (cause) {
      if (cause instanceof GzipCutOff) throw cutOff(this.file, this.#line - 1);
      if (!(cause instanceof RangeError)) throw cause;
      throw badLine(this.file, this.#line, '', `is longer than ${LONGEST_LINE_BYTES} bytes`);
    }
  }

  /** Takes the first `length` bytes of what {@link peek} gave: whole lines. */
  consume(length: number): void {
    const rest = this.#rest;
    if (rest === undefined) return;
    const part = rest.subarray(0, length);
    this.#hash.update(part);
    this.#line += countLines(part);
    this.#rest = rest.subarray(length);
  }

  /** The sum of everything consumed, in hexadecimal; ends the counting. */
  digest(): string {
    return this.#hash.digest('hex');
  }

  async close(): Promise<void> {
    await this.#blocks.return({ bytes: new Uint8Array(), ended: false });
  }
}
