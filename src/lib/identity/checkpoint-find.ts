/**
 * Labels of a few numbers out of a large checkpoint by looking for their bytes, without reading the file as JSON. A hit
 * counts only where the agent's own form is around it; a hit of any other look, or a file of another look, is read in
 * full. So the answer is that of the full reader, but damage elsewhere in the file goes unnoticed.
 */
import { CheckpointIndex } from './checkpoint-index.ts';
import { PlainRecordReader } from './checkpoint-plain.ts';
import { JsonCursor } from './json-cursor.ts';
import type { Labels } from './labels.ts';

/** Beyond this many numbers one pass over everything is the faster way. */
const MAX_SEARCHES = 4;

const BEGIN = Buffer.from('[{"id":');
const END = Buffer.from('}}}]');
const BEFORE_RECORD = Buffer.from('}}},');
const OPEN_ID = '{"id":';

/**
 * @returns number → labels of those that are in the file
 * @throws {MalformedError} as `parseCheckpoint` where the file had to be read in full
 */
export function findInCheckpoint(bytes: Buffer, file: string, ids: Iterable<number>): Map<number, Labels> {
  const wanted = new Set(ids);
  const found = new Map<number, Labels>();
  if (wanted.size === 0) return found;
  if (wanted.size > MAX_SEARCHES || !looksPlain(bytes)) return readInFull(bytes, file, wanted);
  const plain = new PlainRecordReader(bytes);
  for (const id of wanted) {
    const labels = searchOne(bytes, plain, id);
    if (labels === 'unclear') return readInFull(bytes, file, wanted);
    if (labels !== undefined) found.set(id, labels);
  }
  return found;
}

function readInFull(bytes: Buffer, file: string, wanted: ReadonlySet<number>): Map<number, Labels> {
  const index = CheckpointIndex.of(bytes, file);
  const found = new Map<number, Labels>();
  for (const id of wanted) {
    const labels = index.lookup(id);
    if (labels !== undefined) found.set(id, labels);
  }
  return found;
}

function looksPlain(bytes: Buffer): boolean {
  const length = bytes[bytes.length - 1] === 0x0a ? bytes.length - 1 : bytes.length;
  return startsAt(bytes, 0, BEGIN) && length >= END.length && startsAt(bytes, length - END.length, END);
}

function searchOne(bytes: Buffer, plain: PlainRecordReader, id: number): Labels | 'unclear' | undefined {
  const digits = String(id);
  // Every way to write the number has these digits in it, so where they are not, it is not.
  const first = nextNumber(bytes, digits, 0);
  if (first < 0) return undefined;
  const record = first - OPEN_ID.length;
  if (record < 1 || bytes.toString('latin1', record, first) !== OPEN_ID) return 'unclear';
  if (record > 1 && !startsAt(bytes, record - BEFORE_RECORD.length, BEFORE_RECORD)) return 'unclear';
  return plain.read(new JsonCursor(bytes, record))?.labels ?? 'unclear';
}

/** Where the digits stand as a whole number, from `from` on; -1 when nowhere. */
function nextNumber(bytes: Buffer, digits: string, from: number): number {
  for (let at = bytes.indexOf(digits, from, 'latin1'); at >= 0; at = bytes.indexOf(digits, at + 1, 'latin1')) {
    if (!isDigit(bytes[at - 1]) && !isDigit(bytes[at + digits.length])) return at;
  }
  return -1;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

function startsAt(bytes: Buffer, at: number, wanted: Buffer): boolean {
  return bytes.subarray(at, at + wanted.length).equals(wanted);
}
