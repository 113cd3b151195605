/**
 * The agent's allocator checkpoint, `local_allocator_state.json` (Cilium 1.21, pkg/identity/cache/allocator.go): the
 * labels of every local and remote-node number, without references and without prefixes.
 */
import * as fs from 'node:fs';
import { MalformedError } from '../errors.ts';
import { errnoOf, fileError } from '../fs/file-error.ts';
import type { IdentityRecord } from './caching-allocator.ts';
import { PlainRecordReader } from './checkpoint-plain.ts';
import { type FieldPath, type RecordOptions, readRecord } from './checkpoint-record.ts';
import { CLOSE_LIST, COMMA, JsonCursor, JsonFault, OPEN_LIST } from './json-cursor.ts';

/** Where an agent keeps it; `/var/run` is normally `/run`. */
export const DEFAULT_CHECKPOINT_PATH = '/var/run/cilium/state/local_allocator_state.json';

/**
 * Reads a checkpoint file. It is opened for reading only and never changed.
 * @returns undefined when there is no such file, which is normal
 * @throws {MalformedError} with file, offset and field: one damaged record spoils the whole file, as for the agent
 * @throws {ToolError} as `fileError` when it cannot be opened
 */
export function readCheckpoint(path: string, options: RecordOptions = {}): IdentityRecord[] | undefined {
  const bytes = readCheckpointBytes(path);
  return bytes === undefined ? undefined : parseCheckpoint(bytes, path, options);
}

/** The bytes of a checkpoint file. @returns undefined when there is none @throws as `readCheckpoint` */
export function readCheckpointBytes(path: string): Buffer | undefined {
  try {
    return fs.readFileSync(path);
  } catch (cause) {
    const errno = errnoOf(cause);
    if (errno === 'ENOENT') return undefined;
    if (errno === 'EISDIR') throw damaged(path, new JsonFault('it is a directory', 0), '');
    throw fileError('read', path, cause);
  }
}

/**
 * Reads a checkpoint from bytes. `null` and an empty list are a checkpoint of nothing; what follows the first value is
 * ignored.
 * @param file the name for messages
 * @throws {MalformedError} code BAD_CHECKPOINT, with file, offset and field
 */
export function parseCheckpoint(bytes: Buffer, file: string, options: RecordOptions = {}): IdentityRecord[] {
  const records: IdentityRecord[] = [];
  const plain = new PlainRecordReader(bytes);
  forEachRecord(bytes, file, (cursor, path) => {
    records.push(plain.read(cursor) ?? readRecord(cursor, path, options));
  });
  return records;
}

/**
 * Calls `visit` with the cursor at each element of the list; it must leave the cursor behind that element.
 * @throws {MalformedError} for what is not a list of objects, and for every JsonFault of `visit`
 */
export function forEachRecord(bytes: Buffer, file: string, visit: (cursor: JsonCursor, path: FieldPath) => void): void {
  const cursor = new JsonCursor(bytes);
  const path: FieldPath = { field: '' };
  let index = -1;
  try {
    if (cursor.takeNull()) return;
    if (!cursor.take(OPEN_LIST)) throw cursor.fault('expected a list of identities');
    if (cursor.take(CLOSE_LIST)) return;
    do {
      index++;
      cursor.peek();
      if (cursor.takeNull()) throw new JsonFault('an identity is null, on which an agent would crash', cursor.at - 4);
      visit(cursor, path);
    } while (cursor.take(COMMA));
    if (!cursor.take(CLOSE_LIST)) throw cursor.fault('expected "," or "]" after an identity');
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw damaged(file, error, index < 0 ? '' : `[${index}]${path.field && `.${path.field}`}`);
  }
}

function damaged(file: string, fault: JsonFault, field: string): MalformedError {
  const where = `at byte ${fault.offset}${field === '' ? '' : `, in ${field}`}`;
  return new MalformedError(`Cannot read allocator checkpoint ${file}: ${fault.message} (${where})`, {
    code: 'BAD_CHECKPOINT',
    hint: 'the file was left as it is; the agent writes a new one when it next changes an identity',
    operands: { file, offset: fault.offset, ...(field === '' ? {} : { field }) },
  });
}
