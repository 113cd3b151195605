/**
 * A checkpoint read in pieces through one small buffer, as long as all of it is in the agent's own form. A file of tens
 * of megabytes then costs neither its size in memory nor the time to be given that memory.
 */
import * as fs from 'node:fs';
import { fileError } from '../fs/file-error.ts';
import type { CheckpointFile } from './checkpoint-file.ts';
import { PlainRecordReader } from './checkpoint-plain.ts';
import type { NumericIdentity } from './numeric-identity.ts';

/** A record longer than this is left to the full reader. */
const CHUNK_BYTES = 512 * 1024;

const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

/** Called for each record; the reader has matched it and gives its labels. */
export type PlainVisitor = (id: NumericIdentity, reader: PlainRecordReader) => void;

/**
 * Visits the records of an open file from its beginning.
 * @returns false when anything is not in plain form, after the records before it were visited: read it in full then
 * @throws {ToolError} as `fileError`
 */
export function visitPlainRecords({ fd, regular }: CheckpointFile, path: string, visit: PlainVisitor): boolean {
  if (!regular) return false;
  const file = new Chunks(fd, path);
  const reader = new PlainRecordReader(file.bytes);
  if (!file.take(OPEN_LIST)) return false;
  if (file.take(CLOSE_LIST)) return true;
  do {
    const id = reader.match(file.at) ?? (file.refill() ? reader.match(file.at) : undefined);
    if (id === undefined) return false;
    file.at = reader.end;
    visit(id, reader);
  } while (file.take(COMMA));
  return file.take(CLOSE_LIST);
}

class Chunks {
  /** The text ends before a zero, which no plain record has. */
  readonly bytes = Buffer.alloc(CHUNK_BYTES + 1);
  at = 0;
  #end = 0;
  #position = 0;
  readonly #fd: number;
  readonly #path: string;

  constructor(fd: number, path: string) {
    this.#fd = fd;
    this.#path = path;
  }

  take(byte: number): boolean {
    if (this.at === this.#end) this.refill();
    if (this.at === this.#end || this.bytes[this.at] !== byte) return false;
    this.at++;
    return true;
  }

  /** Moves what is left to the front and reads on. @returns whether there was more */
  refill(): boolean {
    this.bytes.copyWithin(0, this.at, this.#end);
    this.#end -= this.at;
    this.at = 0;
    const before = this.#end;
    while (this.#end < CHUNK_BYTES) {
      const length = this.#read();
      if (length === 0) break;
      this.#end += length;
      this.#position += length;
    }
    this.bytes[this.#end] = 0;
    return this.#end > before;
  }

  #read(): number {
    try {
      return fs.readSync(this.#fd, this.bytes, this.#end, CHUNK_BYTES - this.#end, this.#position);
    } catch (cause) {
      throw fileError('read', this.#path, cause);
    }
  }
}
