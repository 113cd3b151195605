/** Opens a checkpoint file, so that all that is read of it is of one generation: agents replace it by rename. */
import * as fs from 'node:fs';
import { errnoOf, fileError } from '../fs/file-error.ts';
import { damagedCheckpoint } from './checkpoint-records.ts';
import { JsonFault } from './json-cursor.ts';

export interface CheckpointFile {
  readonly fd: number;
  /** False for pipes and the like, which can only be read once and in full. */
  readonly regular: boolean;
  readonly bytes: number;
  /** The whole content, wherever it was read before. */
  readAll(): Buffer;
}

/**
 * Calls `use` with the open file and closes it.
 * @returns what `use` returns; undefined when there is no such file
 * @throws {MalformedError} for a directory; {ToolError} as `fileError` when it cannot be opened or read
 */
export function withCheckpointFile<Result>(path: string, use: (file: CheckpointFile) => Result): Result | undefined {
  const fd = open(path);
  if (fd === undefined) return undefined;
  try {
    const stat = fs.fstatSync(fd);
    if (stat.isDirectory()) throw damagedCheckpoint(path, new JsonFault('it is a directory', 0), '');
    const regular = stat.isFile();
    return use({ fd, regular, bytes: stat.size, readAll: () => readAll(fd, path, regular) });
  } finally {
    fs.closeSync(fd);
  }
}

function open(path: string): number | undefined {
  try {
    return fs.openSync(path, 'r');
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return undefined;
    throw fileError('read', path, cause);
  }
}

function readAll(fd: number, path: string, regular: boolean): Buffer {
  try {
    if (!regular) return fs.readFileSync(fd);
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
