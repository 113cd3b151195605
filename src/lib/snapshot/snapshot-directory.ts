/** A directory of snapshots of one map: names that sort by time, and only so many of them. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf, fileError } from '../fs/file-error.ts';

const NAME = /^ipcache-\d{8}T\d{6}\.\d{3}Z\.ndjson(\.gz)?$/;

/** The name for a snapshot of that moment, compressed. @param time RFC 3339, as in its header */
export function snapshotName(time: string): string {
  return `ipcache-${time.replaceAll(/[-:]/g, '')}.ndjson.gz`;
}

/** The snapshots that were made for this directory, the newest first; it need not exist. Other files are not ours. */
export function snapshotsIn(directory: string): string[] {
  try {
    const names = readdirSync(directory).filter((name) => NAME.test(name));
    return names
      .sort()
      .reverse()
      .map((name) => join(directory, name));
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return [];
    throw fileError('read', directory, cause);
  }
}

/** Removes all but the newest. @returns what was removed @throws {ToolError} */
export function keepNewest(directory: string, keep: number): string[] {
  const old = snapshotsIn(directory).slice(keep);
  for (const path of old) {
    try {
      rmSync(path, { force: true });
    } catch (cause) {
      throw fileError('remove', path, cause);
    }
  }
  return old;
}
