/**
 * The identities of a snapshot. Their lines are kept as they are and parsed when somebody first asks: two snapshots
 * mostly have the same ones, and then nobody does.
 */
import { checkLine } from './check-line.ts';
import { badLine } from './damage.ts';
import type { SnapshotIdentity } from './lines.ts';

const NEWLINE = 10;

export class IdentityTable implements Iterable<SnapshotIdentity> {
  /** The lines, each with its newline. */
  readonly bytes: Uint8Array;
  readonly #file: string;
  readonly #firstLine: number;
  #labels: Map<number, readonly string[]> | undefined;

  /** @param firstLine number of the first line in its file, for messages */
  constructor(bytes: Uint8Array, file: string, firstLine: number) {
    this.bytes = bytes;
    this.#file = file;
    this.#firstLine = firstLine;
  }

  get size(): number {
    return this.#table().size;
  }

  /** Labels of a number; undefined when the snapshot does not know them. @throws {MalformedError} */
  labels(identity: number): readonly string[] | undefined {
    return this.#table().get(identity);
  }

  /** By number. @throws {MalformedError} naming line and field */
  *[Symbol.iterator](): IterableIterator<SnapshotIdentity> {
    for (const [identity, labels] of this.#table()) yield { identity, labels };
  }

  #table(): Map<number, readonly string[]> {
    this.#labels ??= parseIdentities(this.bytes, this.#file, this.#firstLine);
    return this.#labels;
  }
}

function parseIdentities(bytes: Uint8Array, file: string, firstLine: number): Map<number, readonly string[]> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const labels = new Map<number, readonly string[]>();
  let before = -1;
  for (let from = 0, line = firstLine; from < text.length; line++) {
    const end = text.indexOf(NEWLINE, from);
    const record = parseIdentity(text.toString('utf8', from, end), file, line);
    if (record.identity <= before) throw badLine(file, line, 'identity', `is not larger than that of line ${line - 1}`);
    before = record.identity;
    labels.set(record.identity, record.labels);
    from = end + 1;
  }
  return labels;
}

function parseIdentity(text: string, file: string, line: number): SnapshotIdentity {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw badLine(file, line, '', 'is not JSON');
  }
  const violation = checkLine('identity', value);
  if (violation !== undefined) throw badLine(file, line, violation.field, violation.problem);
  return value as SnapshotIdentity;
}
