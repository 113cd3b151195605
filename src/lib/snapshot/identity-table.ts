/**
 * The identities of a snapshot. Their lines are kept as they are, with an index by number; a line is parsed when somebody
 * asks for its labels. Two snapshots mostly have the same ones, and then nobody does.
 */
import { checkLine } from './check-line.ts';
import { badLine } from './damage.ts';
import { IdentityIndex } from './identity-index.ts';
import type { SnapshotIdentity } from './lines.ts';
import { parseLine } from './parse-line.ts';

export class IdentityTable implements Iterable<SnapshotIdentity> {
  readonly #bytes: Buffer;
  readonly #file: string;
  readonly #firstLine: number;
  readonly #parsed = new Map<number, readonly string[]>();
  #index: IdentityIndex | undefined;

  /**
   * @param bytes whole lines, each with its newline
   * @param firstLine number of the first line in its file, for messages
   */
  constructor(bytes: Uint8Array, file: string, firstLine: number) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#file = file;
    this.#firstLine = firstLine;
  }

  get size(): number {
    return this.#lines.size;
  }

  /** Labels of a number; undefined when the snapshot does not know them. @throws {MalformedError} */
  labels(identity: number): readonly string[] | undefined {
    const known = this.#parsed.get(identity);
    if (known !== undefined) return known;
    const line = this.#lines.find(identity);
    if (line < 0) return undefined;
    const { labels } = this.#parse(line);
    // Entries with one number come in any order; remembering all of them would be the memory that the index saves.
    if (this.#parsed.size >= MOST_PARSED) this.#parsed.clear();
    this.#parsed.set(identity, labels);
    return labels;
  }

  /** By number; every line is checked. @throws {MalformedError} naming line and field */
  *[Symbol.iterator](): IterableIterator<SnapshotIdentity> {
    let before = -1;
    for (let line = 0; line < this.#lines.size; line++) {
      const record = this.#parse(line);
      if (record.identity <= before) throw this.#damage(line, 'identity', 'is not larger than that of the line before');
      before = record.identity;
      yield record;
    }
  }

  /** Numbers that both tables have with lines that are not the same, in order. @throws {MalformedError} */
  *differing(other: IdentityTable): IterableIterator<number> {
    if (this.#bytes.equals(other.#bytes)) return;
    for (let line = 0; line < this.#lines.size; line++) {
      const identity = this.#lines.number(line);
      const theirs = other.#lines.find(identity);
      if (theirs >= 0 && !this.#line(line).equals(other.#line(theirs))) yield identity;
    }
  }

  get #lines(): IdentityIndex {
    this.#index ??= new IdentityIndex(this.#bytes);
    return this.#index;
  }

  #line(line: number): Buffer {
    return this.#bytes.subarray(this.#lines.start(line), this.#lines.start(line + 1) - 1);
  }

  #parse(line: number): SnapshotIdentity {
    const value = parseLine(this.#line(line));
    if (value === undefined) throw this.#damage(line, '', 'is not JSON');
    const violation = checkLine('identity', value);
    if (violation !== undefined) throw this.#damage(line, violation.field, violation.problem);
    return value as SnapshotIdentity;
  }

  #damage(line: number, field: string, problem: string): Error {
    return badLine(this.#file, this.#firstLine + line, field, problem);
  }
}

const MOST_PARSED = 4096;
