/**
 * The agent's allocator checkpoint, `local_allocator_state.json` (Cilium 1.21, pkg/identity/cache/allocator.go): the
 * labels of every local and remote-node number, without references and without prefixes.
 */
import type { IdentityRecord } from './caching-allocator.ts';
import { withCheckpointFile } from './checkpoint-file.ts';
import { PlainRecordReader } from './checkpoint-plain.ts';
import { type RecordOptions, readRecord } from './checkpoint-record.ts';
import { forEachRecord } from './checkpoint-records.ts';
import { Labels } from './labels.ts';
import { visitPlainRecords } from './plain-file.ts';

/** Where an agent keeps it; `/var/run` is normally `/run`. */
export const DEFAULT_CHECKPOINT_PATH = '/var/run/cilium/state/local_allocator_state.json';

/**
 * Reads a checkpoint file. It is opened for reading only and never changed.
 * @returns undefined when there is no such file, which is normal
 * @throws {MalformedError} with file, offset and field: one damaged record spoils the whole file, as for the agent
 * @throws {ToolError} as `fileError` when it cannot be opened
 */
export function readCheckpoint(path: string, options: RecordOptions = {}): IdentityRecord[] | undefined {
  return withCheckpointFile(path, (file) => {
    const records: IdentityRecord[] = [];
    const plain = visitPlainRecords(file, path, (id, reader) => {
      records.push({ id, labels: Labels.fromReversibleList(reader.sortedList()) });
    });
    return plain ? records : parseCheckpoint(file.readAll(), path, options);
  });
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
    const id = plain.match(cursor.at);
    if (id === undefined) records.push(readRecord(cursor, path, options));
    else {
      cursor.at = plain.end;
      records.push({ id, labels: Labels.fromReversibleList(plain.sortedList()) });
    }
  });
  return records;
}
