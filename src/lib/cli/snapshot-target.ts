/** Where `ipc snapshot` writes to. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../errors.ts';
import { fileError } from '../fs/file-error.ts';
import { lookAt } from '../fs/look-at.ts';
import { snapshotName, snapshotsIn } from '../snapshot/snapshot-directory.ts';

export type SnapshotTarget =
  | { readonly kind: 'stdout' }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'directory'; readonly path: string; readonly keep: number };

export interface TargetOptions {
  /** The argument. */
  readonly file: string | undefined;
  readonly keep: number | undefined;
  /** Standard output is a terminal, on which nobody wants half a million lines. */
  readonly terminal: boolean;
}

/** @throws {UsageError} */
export function chooseTarget({ file, keep, terminal }: TargetOptions): SnapshotTarget {
  if (keep !== undefined) {
    if (file === undefined || file === '-') throw usage('--keep needs a directory to keep snapshots in');
    if (keep === 0) throw usage('--keep 0 would keep nothing');
    return { kind: 'directory', path: file, keep };
  }
  if (file === '-') return { kind: 'stdout' };
  if (file === undefined) {
    if (terminal) throw usage('standard output is a terminal', 'name a FILE, or - to print it all the same');
    return { kind: 'stdout' };
  }
  if (lookAt(file)?.isDirectory() === true) {
    throw usage(`${file} is a directory`, '--keep N writes into it and keeps the newest N');
  }
  return { kind: 'file', path: file };
}

/**
 * The file to write and the one whose content it must not fall behind.
 * @param time of the snapshot, RFC 3339
 * @throws {ToolError} when the directory cannot be read
 */
export function targetFiles(
  target: Exclude<SnapshotTarget, { kind: 'stdout' }>,
  time: string,
): { readonly path: string; readonly replaces: string | undefined } {
  if (target.kind === 'file') return { path: target.path, replaces: target.path };
  // None is replaced, but in the end the new one drives an old one out.
  return { path: join(target.path, snapshotName(time)), replaces: snapshotsIn(target.path)[0] };
}

/** Makes the directory of --keep. @throws {ToolError} as `fileError` */
export function makeDirectory(target: SnapshotTarget): void {
  if (target.kind !== 'directory') return;
  try {
    mkdirSync(target.path, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw fileError('make directory', target.path, cause);
  }
}

function usage(state: string, hint = 'see ipc snapshot --help'): UsageError {
  return new UsageError(`Cannot write a snapshot: ${state}`, { code: 'SNAPSHOT_TARGET', hint });
}
