/** Where a merge stands in one of its two inputs. */
import { compareRows, EntryRow } from '../snapshot/entry-row.ts';
import { readRow } from '../snapshot/read-rows.ts';

const NEWLINE = 10;
const NOTHING = Buffer.alloc(0);

/** A line that is no entry, or comes after one that it should precede: its file has to be read again to say which. */
export class UnreadableLine extends Error {
  readonly side: 'a' | 'b';

  constructor(side: 'a' | 'b') {
    super(`unreadable line in ${side}`);
    this.side = side;
  }
}

export class LineCursor {
  /** Whole lines; those before `at` have been dealt with. */
  block: Buffer = NOTHING;
  at = 0;
  /** The entry at `at`; only after {@link read}. */
  row = new EntryRow();
  readonly #side: 'a' | 'b';
  readonly #blocks: AsyncIterator<Uint8Array>;
  /** The entry before `at`, to see disorder. */
  #before = new EntryRow();
  #beforeAt = -1;
  #lineEnd = -1;

  constructor(side: 'a' | 'b', blocks: AsyncIterator<Uint8Array>) {
    this.#side = side;
    this.#blocks = blocks;
  }

  /** Makes sure that there is a line at `at`. @returns false at the end of the input */
  async fill(): Promise<boolean> {
    while (this.at === this.block.length) {
      if (this.block.length > 0) this.#readBefore();
      const step = await this.#blocks.next();
      if (step.done === true) return false;
      this.block = Buffer.from(step.value.buffer, step.value.byteOffset, step.value.length);
      this.at = 0;
      this.#lineEnd = -1;
      this.#beforeAt = this.#beforeAt < 0 ? -1 : 0;
    }
    return true;
  }

  /** Reads the entry at `at` into `row`, if that was not done yet. @throws {UnreadableLine} */
  read(): void {
    if (this.#lineEnd >= 0) return;
    this.#readBefore();
    this.#lineEnd = this.block.indexOf(NEWLINE, this.at) + 1;
    if (readRow(this.block, this.at, this.#lineEnd - 1, this.row) !== undefined) throw new UnreadableLine(this.#side);
    if (this.#beforeAt >= 0 && compareRows(this.#before, this.row) >= 0) throw new UnreadableLine(this.#side);
  }

  /** The bytes of the line at `at`, after {@link read}. */
  sameLine(other: LineCursor): boolean {
    const length = this.#lineEnd - this.at;
    if (length !== other.#lineEnd - other.at) return false;
    return this.block.compare(other.block, other.at, other.#lineEnd, this.at, this.#lineEnd) === 0;
  }

  /** Goes on behind the entry that was read. */
  advance(): void {
    const row = this.#before;
    this.#before = this.row;
    this.row = row;
    this.at = this.#lineEnd;
    this.#beforeAt = this.at;
    this.#lineEnd = -1;
  }

  /** Goes on behind lines that were not read. */
  skipTo(at: number): void {
    if (at === this.at) return;
    this.at = at;
    this.#lineEnd = -1;
  }

  /** Reads the line that ends at `at`, unless it was the last one read. */
  #readBefore(): void {
    if (this.#beforeAt === this.at || this.at === 0) return;
    const start = this.at < 2 ? 0 : this.block.lastIndexOf(NEWLINE, this.at - 2) + 1;
    if (readRow(this.block, start, this.at - 1, this.#before) !== undefined) throw new UnreadableLine(this.#side);
    this.#beforeAt = this.at;
  }
}
