/**
 * The exact entries that a command is about to change, on disk before the first of them changes, so that every change
 * can be taken back byte for byte. The published shape of a line is `schemas/backup.json`.
 */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { openAtomicFile } from '../fs/atomic-file.ts';
import { errnoOf, fileError } from '../fs/file-error.ts';
import { syncDirectory } from '../fs/sync-directory.ts';
import type { StateLock } from './lock.ts';
import { statePaths } from './paths.ts';

export interface BackupHeader {
  /** RFC 3339 UTC with milliseconds; the file's name begins with it. */
  readonly time: string;
  /** The command that changes the entries, such as `gc`. */
  readonly command: string;
  readonly bootId: string;
  readonly map: { readonly id: number; readonly pin?: string; readonly layout: string };
}

export interface BackupEntry {
  /** For people; the key decides. */
  readonly prefix?: string;
  /** For people. */
  readonly identity?: number;
  readonly key: Uint8Array;
  /** Absent: the entry did not exist. */
  readonly before?: Uint8Array;
  /** Absent: the entry was to be deleted. */
  readonly after?: Uint8Array;
}

export interface BackupFile {
  readonly path: string;
  readonly entries: number;
}

export interface BackupLimits {
  readonly files: number;
  readonly bytes: number;
}

/** Older backups go when there are more; the newest one always stays. */
export const BACKUP_LIMITS: BackupLimits = { files: 20, bytes: 256 * 1024 * 1024 };

const NAME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z-[a-z]+(?:_\d+)?\.ndjson$/;
const PIECE_CHARS = 256 * 1024;

/**
 * Writes and syncs a backup, then drops the oldest ones beyond the limits.
 * @param entries pulled as they are written; their bytes may be reused after the next one is pulled
 * @returns undefined, and no file, when there are no entries
 * @throws {ToolError} when it cannot be written: then nothing may be changed
 */
export async function writeBackup(
  lock: StateLock,
  header: BackupHeader,
  entries: Iterable<BackupEntry>,
  limits: BackupLimits = BACKUP_LIMITS,
): Promise<BackupFile | undefined> {
  const { directory, backups } = statePaths(lock.directory);
  try {
    if (fs.mkdirSync(backups, { recursive: true, mode: 0o700 }) !== undefined) await syncDirectory(directory);
  } catch (cause) {
    throw fileError('create', backups, cause);
  }
  const path = freeName(backups, header);
  using file = openAtomicFile(path);
  const { time, command, bootId, map } = header;
  let piece = line({ kind: 'ipc-backup', schemaVersion: 1, time, command, bootId, map });
  let count = 0;
  // The next piece is made while this one is written.
  let writing = Promise.resolve();
  try {
    for (const entry of entries) {
      piece += entryLine(entry);
      count++;
      if (piece.length < PIECE_CHARS) continue;
      await writing;
      writing = file.write(piece);
      piece = '';
    }
  } finally {
    // The file must not be closed under it.
    await writing;
  }
  if (count === 0) return undefined;
  await file.write(piece + line({ end: true, entries: count }));
  await file.commit();
  pruneBackups(backups, limits);
  return { path, entries: count };
}

/** The backups of a state directory, newest first. A directory without any has none. */
export function listBackups(directory: string): string[] {
  const { backups } = statePaths(directory);
  return names(backups).map((name) => join(backups, name));
}

/** Also removes what a killed writer left: we hold the lock, and our own file has its name already. */
function pruneBackups(backups: string, limits: BackupLimits): void {
  for (const name of fs.readdirSync(backups)) {
    if (/^\.\d{4}-.*\.tmp$/.test(name)) fs.rmSync(join(backups, name), { force: true });
  }
  let bytes = 0;
  names(backups).forEach((name, index) => {
    const path = join(backups, name);
    bytes += fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (index > 0 && (index >= limits.files || bytes > limits.bytes)) fs.rmSync(path, { force: true });
  });
}

function names(backups: string): string[] {
  try {
    return fs
      .readdirSync(backups)
      .filter((name) => NAME.test(name))
      .sort()
      .reverse();
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return [];
    throw fileError('read', backups, cause);
  }
}

/** Two commands of one millisecond get two files; `_` sorts behind the full stop, so the names stay in order. */
function freeName(backups: string, { time, command }: BackupHeader): string {
  const begin = join(backups, `${time}-${command}`);
  for (let i = 1; ; i++) {
    const path = `${begin}${i === 1 ? '' : `_${i}`}.ndjson`;
    if (!fs.existsSync(path)) return path;
  }
}

/** Put together by hand: there may be hundreds of thousands, and something waits for them. */
function entryLine({ prefix, identity, key, before, after }: BackupEntry): string {
  let text = prefix === undefined ? '{' : `{"prefix":${JSON.stringify(prefix)},`;
  if (identity !== undefined) text += `"identity":${identity},`;
  text += `"key":"${hex(key)}"`;
  if (before !== undefined) text += `,"before":"${hex(before)}"`;
  if (after !== undefined) text += `,"after":"${hex(after)}"`;
  return `${text}}\n`;
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

const scratch = Buffer.alloc(64);

/** Copied first: a view of each would cost more than its digits. */
function hex(bytes: Uint8Array): string {
  const { length } = bytes;
  if (length > scratch.length) return Buffer.from(bytes).toString('hex');
  for (let i = 0; i < length; i++) scratch[i] = bytes[i] as number;
  return scratch.toString('hex', 0, length);
}
