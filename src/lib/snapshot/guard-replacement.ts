/** Keeps a good snapshot from being replaced by a worse one: the map may have been emptied just before. */

import { MalformedError, RefusedError } from '../errors.ts';
import { lookAt } from '../fs/look-at.ts';
import { countOf } from './count-lines.ts';
import { openSnapshot, type SnapshotReader } from './snapshot-reader.ts';

export interface EntryCounts {
  readonly entries: number;
  /** Those with an identity of local scope: what nothing but a snapshot can bring back. */
  readonly localEntries: number;
}

const HINT = 'look at the map first; --force replaces it all the same';

/**
 * Lets a replacement pass, or not. A file that is not there, or is no regular file, needs no guard.
 * @param fresh what would be written
 * @throws {RefusedError} SNAPSHOT_GUARD
 */
export async function guardReplacement(path: string, fresh: EntryCounts): Promise<void> {
  if (lookAt(path)?.isFile() !== true) return;
  let old: EntryCounts;
  try {
    old = await countEntries(await openSnapshot(path));
  } catch (cause) {
    if (!(cause instanceof MalformedError)) throw cause;
    throw refused(path, `it is there already and no sound snapshot (${cause.message})`);
  }
  if (fresh.entries === 0 && old.entries > 0) {
    throw refused(path, `the map is empty, the snapshot has ${old.entries} entries`);
  }
  if (fresh.localEntries * 2 < old.localEntries) {
    const counts = `${fresh.localEntries} local entries, the snapshot ${old.localEntries}`;
    throw refused(path, `the map has ${counts}: fewer than half`);
  }
}

/** Counts the entries of a snapshot and closes it. @throws {ToolError} as reading it */
export async function countEntries(snapshot: SnapshotReader): Promise<EntryCounts> {
  await using reader = snapshot;
  let localEntries = 0;
  for await (const block of reader.entryBlocks()) localEntries += countOf(block, LOCAL);
  return { entries: reader.end.entries, localEntries };
}

const LOCAL = Buffer.from('"scope":"local"');

function refused(path: string, state: string): RefusedError {
  return new RefusedError(`Cannot replace ${path}: ${state}`, {
    code: 'SNAPSHOT_GUARD',
    hint: HINT,
    operands: { path },
  });
}
