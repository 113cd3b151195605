/**
 * Reads a snapshot file front to back in bounded memory: header and identities at once, entries as pieces of whole lines
 * that the caller parses as far as it needs. At the end the file must be what was written, or the run fails.
 */

import type { MalformedError } from '../errors.ts';
import { lookAt } from '../fs/look-at.ts';
import { checkLine } from './check-line.ts';
import { badLine, cutOff, newerSnapshot, notSnapshot, wrongSum } from './damage.ts';
import { IdentityTable } from './identity-table.ts';
import { LineSource } from './line-source.ts';
import { SNAPSHOT_KIND, SNAPSHOT_VERSION, type SnapshotEnd, type SnapshotHeader } from './lines.ts';
import { parseObject } from './parse-line.ts';
import { findDamage } from './read-rows.ts';

const NEWLINE = 10;

export class SnapshotReader implements AsyncDisposable {
  readonly file: string;
  readonly header: SnapshotHeader;
  readonly identities: IdentityTable;
  /** Number of the first entry line. */
  readonly firstEntryLine: number;
  readonly #source: LineSource;
  readonly #reopen: (() => Promise<SnapshotReader>) | undefined;
  #end: SnapshotEnd | undefined;

  /** @param reopen reads the same once more, to look for damage */
  constructor(
    source: LineSource,
    header: SnapshotHeader,
    identities: IdentityTable,
    reopen?: () => Promise<SnapshotReader>,
  ) {
    this.#reopen = reopen;
    this.file = source.file;
    this.header = header;
    this.identities = identities;
    this.firstEntryLine = source.line;
    this.#source = source;
  }

  /** The end line; only once {@link entryBlocks} has come to its end. */
  get end(): SnapshotEnd {
    if (this.#end === undefined) throw new TypeError('the snapshot has not been read to its end');
    return this.#end;
  }

  /**
   * The entry lines, once.
   * @yields pieces of whole lines, newlines included, valid until the next step
   * @throws {MalformedError} when the file is cut off or is not what was written
   */
  async *entryBlocks(): AsyncGenerator<Uint8Array, void> {
    const source = this.#source;
    for (let block = await source.peek(); block !== undefined; block = await source.peek()) {
      source.consume(block.length);
      yield block;
    }
    const end = readEnd(source);
    if (end.sha256 !== source.digest()) throw await this.explainDamage();
    this.#end = checkCounts(end, source, this.firstEntryLine);
  }

  /**
   * Reads the file again, line by line, after something in it was found to be wrong.
   * @returns the error to throw @throws {MalformedError} naming the line and field, if it is one line
   */
  async explainDamage(): Promise<MalformedError> {
    const again = await this.#reopen?.();
    if (again !== undefined) await findDamage(again);
    return wrongSum(this.file);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#source.close();
  }
}

/**
 * Opens a snapshot and reads its header and identities.
 * @param chunks the bytes, plain or gzip, where they do not have to be read from the file
 * @throws {NotFoundError} no such file; {NotPermittedError}
 * @throws {MalformedError} not a snapshot, a newer one, damaged, cut off
 */
export async function openSnapshot(file: string, chunks?: () => AsyncIterable<Uint8Array>): Promise<SnapshotReader> {
  // A pipe gives its bytes only once, and opening it again would wait for ever.
  const again = chunks !== undefined || lookAt(file)?.isFile() === true;
  return open(file, chunks, again ? () => open(file, chunks) : undefined);
}

async function open(
  file: string,
  chunks?: () => AsyncIterable<Uint8Array>,
  reopen?: () => Promise<SnapshotReader>,
): Promise<SnapshotReader> {
  const source = new LineSource(file, chunks?.());
  try {
    const header = await readHeader(source);
    const identities = await readIdentities(source);
    return new SnapshotReader(source, header, new IdentityTable(identities, file, 2), reopen);
  } catch (cause) {
    await source.close();
    throw cause;
  }
}

async function readHeader(source: LineSource): Promise<SnapshotHeader> {
  const { file } = source;
  const block = await source.peek();
  const length = block === undefined ? 0 : block.indexOf(NEWLINE);
  const line = block?.subarray(0, length) ?? source.last.bytes;
  if (line.length === 0 && block === undefined) throw cutOff(file, 0);
  const value = parseObject(line);
  if (value?.kind !== SNAPSHOT_KIND) throw notSnapshot(file);
  const version = value.schemaVersion;
  if (typeof version === 'number' && version > SNAPSHOT_VERSION) throw newerSnapshot(file, version, SNAPSHOT_VERSION);
  const violation = checkLine('header', value);
  if (violation !== undefined) throw badLine(file, 1, violation.field, violation.problem);
  if (block === undefined) throw cutOff(file, 1);
  source.consume(length + 1);
  const { kind: _kind, schemaVersion: _version, ...header } = value;
  return header as unknown as SnapshotHeader;
}

async function readIdentities(source: LineSource): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for (let block = await source.peek(); block !== undefined; block = await source.peek()) {
    const length = identityBytes(block);
    if (length > 0) parts.push(Buffer.from(block.subarray(0, length)));
    source.consume(length);
    if (length < block.length) break;
  }
  return Buffer.concat(parts);
}

const ENTRY = Buffer.from('{"prefix":');
const IDENTITY = Buffer.from('{"identity":');

/** How many bytes at the start of a block are identity lines. */
function identityBytes(block: Uint8Array): number {
  let from = 0;
  while (from < block.length) {
    const to = block.indexOf(NEWLINE, from);
    const line = block.subarray(from, to);
    if (startsWith(line, ENTRY)) break;
    if (!startsWith(line, IDENTITY)) {
      const value = parseObject(line);
      if (value === undefined || 'prefix' in value || !('identity' in value)) break;
    }
    from = to + 1;
  }
  return from;
}

function startsWith(line: Uint8Array, start: Uint8Array): boolean {
  for (let i = 0; i < start.length; i++) if (line[i] !== start[i]) return false;
  return true;
}

function readEnd({ file, line, last }: LineSource): SnapshotEnd {
  const value = parseObject(last.bytes);
  if (value?.end !== true) throw cutOff(file, last.ended ? line : line - 1);
  const violation = checkLine('end', value);
  if (violation !== undefined) throw badLine(file, line, violation.field, violation.problem);
  const { end: _end, ...end } = value;
  return end as unknown as SnapshotEnd;
}

function checkCounts(end: SnapshotEnd, { file, line }: LineSource, firstEntryLine: number): SnapshotEnd {
  if (end.entries !== line - firstEntryLine) throw badLine(file, line, 'entries', 'is not how many there are');
  if (end.identities !== firstEntryLine - 2) throw badLine(file, line, 'identities', 'is not how many there are');
  return end;
}
