/**
 * Labels of a few numbers out of a large checkpoint by looking for their bytes, in pieces, without reading the file as
 * JSON. A hit counts only where the agent's own form is around it. Where the digits stand in any other surroundings, or
 * the file has another look, it is read in full. So the answer is that of the full reader, but for two things: damage
 * elsewhere goes unnoticed, and of two records with one number the one in the agent's form is taken.
 */
import * as fs from 'node:fs';
import { fileError } from '../fs/file-error.ts';
import { type CheckpointFile, withCheckpointFile } from './checkpoint-file.ts';
import { CheckpointIndex } from './checkpoint-index.ts';
import { MAX_LIST_BYTES, PlainRecordReader } from './checkpoint-plain.ts';
import { Labels } from './labels.ts';

/** Beyond this many numbers one pass over everything is the faster way. */
const MAX_SEARCHES = 4;
const CHUNK_BYTES = 256 * 1024;
/** More than any needle with what has to be around it. */
const OVERLAP_BYTES = 64;
/** A plain record is at most some times as long as its list. */
const WINDOW_BYTES = 4 * MAX_LIST_BYTES;

const BEGIN = '[{"id":';
const END = '}}}]';
const BEFORE_RECORD = '}}},';

/**
 * @returns number → labels of those that are in the file; undefined when there is no such file
 * @throws as `readCheckpoint` where the file had to be read in full
 */
export function findInCheckpoint(path: string, ids: Iterable<number>): Map<number, Labels> | undefined {
  const wanted = [...new Set(ids)];
  return withCheckpointFile(path, (file) => {
    const found = wanted.length === 0 ? new Map<number, Labels>() : search(file, path, wanted);
    return found ?? readInFull(file, path, wanted);
  });
}

function readInFull(file: CheckpointFile, path: string, wanted: readonly number[]): Map<number, Labels> {
  const index = CheckpointIndex.of(file.readAll(), path);
  const found = new Map<number, Labels>();
  for (const id of wanted) {
    const labels = index.lookup(id);
    if (labels !== undefined) found.set(id, labels);
  }
  return found;
}

/** @returns undefined when the search is no safe way */
function search(file: CheckpointFile, path: string, wanted: readonly number[]): Map<number, Labels> | undefined {
  if (!file.regular || wanted.length > MAX_SEARCHES || !looksPlain(file, path)) return undefined;
  const found = new Map<number, Labels>();
  for (const [id, at] of findRecords(file, path, wanted)) {
    const labels = readAt(file, path, at);
    if (labels === undefined) return undefined;
    found.set(id, labels);
  }
  const missing = wanted.filter((id) => !found.has(id)).map(String);
  return missing.length > 0 && hasNumber(file, path, missing) ? undefined : found;
}

function looksPlain(file: CheckpointFile, path: string): boolean {
  const tail = END.length + 1;
  const end = textAt(file, path, file.bytes - tail, tail);
  return textAt(file, path, 0, BEGIN.length) === BEGIN && (end.endsWith(END) || end === `${END}\n`);
}

/** Where records of the numbers begin, the first of each. */
function findRecords(file: CheckpointFile, path: string, wanted: readonly number[]): Map<number, number> {
  const needles = new Map(wanted.map((id) => [id, Buffer.from(`{"id":${id},`)]));
  const found = new Map<number, number>();
  eachChunk(file, path, (chunk, position) => {
    for (const [id, needle] of needles) {
      const at = chunk.indexOf(needle);
      if (at < 0) continue;
      found.set(id, position + at);
      needles.delete(id);
    }
    return needles.size > 0;
  });
  return found;
}

function readAt(file: CheckpointFile, path: string, at: number): Labels | undefined {
  if (at > 1 && textAt(file, path, at - BEFORE_RECORD.length, BEFORE_RECORD.length) !== BEFORE_RECORD) return undefined;
  const bytes = Buffer.alloc(WINDOW_BYTES);
  read(file, path, bytes, at);
  const reader = new PlainRecordReader(bytes);
  return reader.match(0) === undefined ? undefined : Labels.fromReversibleList(reader.sortedList());
}

/** Every way to write a number has its digits in it: where they stand nowhere as a whole number, it is not there. */
function hasNumber(file: CheckpointFile, path: string, digits: readonly string[]): boolean {
  let hit = false;
  eachChunk(file, path, (chunk) => {
    hit = digits.some((text) => standsIn(chunk, text));
    return !hit;
  });
  return hit;
}

function standsIn(chunk: Buffer, digits: string): boolean {
  const needle = Buffer.from(digits);
  for (let at = chunk.indexOf(needle); at >= 0; at = chunk.indexOf(needle, at + 1)) {
    if (!isDigit(chunk[at - 1]) && !isDigit(chunk[at + needle.length])) return true;
  }
  return false;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

/** Pieces of the file that overlap, until `visit` says that it has enough. */
function eachChunk(file: CheckpointFile, path: string, visit: (chunk: Buffer, position: number) => boolean): void {
  const bytes = Buffer.alloc(CHUNK_BYTES);
  for (let position = 0; position < file.bytes; position += CHUNK_BYTES - OVERLAP_BYTES) {
    const length = read(file, path, bytes, position);
    if (!visit(bytes.subarray(0, length), position) || length < CHUNK_BYTES) return;
  }
}

function textAt(file: CheckpointFile, path: string, at: number, length: number): string {
  const bytes = Buffer.alloc(length);
  return bytes.toString('latin1', 0, read(file, path, bytes, Math.max(0, at)));
}

function read({ fd }: CheckpointFile, path: string, into: Buffer, position: number): number {
  try {
    return fs.readSync(fd, into, 0, into.length, position);
  } catch (cause) {
    throw fileError('read', path, cause);
  }
}
