/** Since when a prefix has the value that it has, from the snapshots of a directory. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ToolError } from '../errors.ts';
import { fileError } from '../fs/file-error.ts';
import type { EntryRow } from './entry-row.ts';
import { findRow } from './find-row.ts';
import { openSnapshot } from './snapshot-reader.ts';

export interface PrefixHistory {
  /** Snapshots that were read, the newest first, up to the first one in which the value was another. */
  readonly read: number;
  /** When the newest of them was made; absent when there is none. */
  readonly newest?: string;
  /** When the oldest one that had the value was made; absent when none had it. */
  readonly by?: string;
  /** When the one before was made, in which the value was another; absent when all had it. */
  readonly after?: string;
  /** What the prefix was then: undefined when it was not there. Only with `after`. */
  readonly before?: EntryRow | undefined;
  /** Why a snapshot says nothing about it. */
  readonly skipped: readonly { readonly file: string; readonly reason: string }[];
}

export interface HistoryQuery {
  readonly directory: string;
  /** The prefix with its present value. */
  readonly present: EntryRow;
  /** The prefix is not there at present. */
  readonly absent: boolean;
  readonly signal: AbortSignal;
}

const NAME = /\.ndjson(\.gz)?$/;

/** Goes back in time until the value was another. @throws {ToolError} when the directory cannot be read */
export async function readHistory({ directory, present, absent, signal }: HistoryQuery): Promise<PrefixHistory> {
  const skipped: { file: string; reason: string }[] = [];
  const files = await byTime(directory, skipped);
  let read = 0;
  let by: string | undefined;
  const result = (after?: string, before?: EntryRow): PrefixHistory => ({
    read,
    ...(files[0] !== undefined && { newest: files[0].time }),
    ...(by !== undefined && { by }),
    ...(after !== undefined && { after, before }),
    skipped,
  });
  for (const { file, time } of files) {
    signal.throwIfAborted();
    const found = await rowIn(file, present, skipped);
    if (found === 'unknown') continue;
    read++;
    const same = found === undefined ? absent : !absent && found.sameValue(present);
    if (!same) return result(time, found);
    by = time;
  }
  return result();
}

interface TimedFile {
  readonly file: string;
  readonly time: string;
}

/** The newest first, by what is written in them. */
async function byTime(directory: string, skipped: { file: string; reason: string }[]): Promise<TimedFile[]> {
  const files: TimedFile[] = [];
  for (const name of namesIn(directory)) {
    const file = join(directory, name);
    try {
      await using reader = await openSnapshot(file);
      if (reader.header.redacted) skipped.push({ file, reason: 'it is redacted' });
      else files.push({ file, time: reader.header.time });
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      skipped.push({ file, reason: error.message });
    }
  }
  return files.sort((a, b) => (a.time < b.time ? 1 : a.time > b.time ? -1 : 0));
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => NAME.test(name));
  } catch (cause) {
    throw fileError('read', directory, cause);
  }
}

async function rowIn(
  file: string,
  wanted: EntryRow,
  skipped: { file: string; reason: string }[],
): Promise<EntryRow | undefined | 'unknown'> {
  try {
    await using reader = await openSnapshot(file);
    const found = await findRow(reader, wanted);
    if (found !== 'incomplete') return found;
    skipped.push({ file, reason: 'it does not cover its map and does not have the prefix' });
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    skipped.push({ file, reason: error.message });
  }
  return 'unknown';
}
