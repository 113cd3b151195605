/** Opens a checkpoint file, so that all that is read of it is of one generation: agents replace it by rename. */
import * as fs from 'node:fs';
import { MalformedError, UnreachableError } from '../errors.ts';
import { errnoOf, fileError } from '../fs/file-error.ts';
import { damagedCheckpoint } from './checkpoint-records.ts';
import { JsonFault } from './json-cursor.ts';

export interface CheckpointFile {
  readonly fd: number;
  /** False for pipes, which can only be read once and in full. */
  readonly regular: boolean;
  readonly bytes: number;
  /** The whole content, wherever it was read before. */
  readAll(): Buffer;
}

/** How long the writer of a pipe may say nothing. */
const LONGEST_SILENCE_MS = 10_000;
const NAP_MS = 5;
/** More than any agent's file has, and less than what a process can hold. */
const MOST_PIPED_BYTES = 1 << 30;
const PART_BYTES = 1 << 16;

/**
 * Calls `use` with the open file and closes it.
 * @returns what `use` returns; undefined when there is no such file
 * @throws {MalformedError} for a directory, a device, a socket, and for a pipe that does not end within 1 GiB;
 *   {UnreachableError} for a pipe whose writer is silent for ten seconds; {ToolError} as `fileError` when it cannot be
 *   opened or read
 */
export function withCheckpointFile<Result>(path: string, use: (file: CheckpointFile) => Result): Result | undefined {
  const fd = open(path);
  if (fd === undefined) return undefined;
  try {
    const stat = fs.fstatSync(fd);
    const other = kindOf(stat);
    if (other !== undefined) throw damagedCheckpoint(path, new JsonFault(`it is a ${other}`, 0), '');
    const regular = stat.isFile();
    return use({ fd, regular, bytes: stat.size, readAll: () => (regular ? readFile(fd, path) : readPipe(fd, path)) });
  } finally {
    fs.closeSync(fd);
  }
}

/** What it is when neither a file nor a pipe. */
function kindOf(stat: fs.Stats): string | undefined {
  if (stat.isFile() || stat.isFIFO()) return undefined;
  return stat.isDirectory() ? 'directory' : 'device';
}

/** Without waiting for the writer of a FIFO: it may never come, and no signal would end the wait. */
function open(path: string): number | undefined {
  try {
    return fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return undefined;
    // A socket cannot be opened.
    if (errnoOf(cause) === 'ENXIO') throw damagedCheckpoint(path, new JsonFault('it is a socket', 0), '');
    throw fileError('read', path, cause);
  }
}

function readFile(fd: number, path: string): Buffer {
  try {
    const parts: Buffer[] = [];
    for (let position = 0; ; ) {
      const part = Buffer.allocUnsafeSlow(Math.max(1, fs.fstatSync(fd).size - position));
      const length = fs.readSync(fd, part, 0, part.length, position);
      if (length === 0) return parts.length === 1 ? (parts[0] ?? part) : Buffer.concat(parts);
      parts.push(part.subarray(0, length));
      position += length;
    }
  } catch (cause) {
    throw fileError('read', path, cause);
  }
}

function readPipe(fd: number, path: string): Buffer {
  const parts: Buffer[] = [];
  let bytes = 0;
  for (let silence = 0; silence < LONGEST_SILENCE_MS; ) {
    const part = Buffer.allocUnsafe(PART_BYTES);
    const length = readNow(fd, path, part);
    // Before its first byte, an end may only mean that no writer has come yet.
    if (length === 0 && bytes > 0) return Buffer.concat(parts, bytes);
    if (length === undefined || length === 0) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, NAP_MS);
      silence += NAP_MS;
      continue;
    }
    silence = 0;
    parts.push(part.subarray(0, length));
    bytes += length;
    if (bytes > MOST_PIPED_BYTES) {
      throw new MalformedError(`Cannot use ${path}: it does not end within 1 GiB`, { code: 'BAD_CHECKPOINT' });
    }
  }
  throw new UnreachableError(`Cannot read ${path}: its writer said nothing for ${LONGEST_SILENCE_MS / 1000} s`, {
    code: 'SILENT_PIPE',
    hint: 'name the file itself, or check what writes into this pipe',
  });
}

/** @returns undefined when there is nothing to read yet */
function readNow(fd: number, path: string, part: Buffer): number | undefined {
  try {
    return fs.readSync(fd, part);
  } catch (cause) {
    if (errnoOf(cause) === 'EAGAIN') return undefined;
    throw fileError('read', path, cause);
  }
}
