/** `ipc dump` between its flags and its format. */
import { walkMap } from '../bpf/walk.ts';
import { IncompleteError } from '../errors.ts';
import { type EntryFilter, entryPredicate } from '../ipcache/entry-filter.ts';
import type { IpcacheMap } from '../ipcache/ipcache-map.ts';
import { type Listing, listEntries } from '../ipcache/list-entries.ts';
import { StdoutClosed } from '../output/byte-writer.ts';
import type { EntryFormat } from '../output/dump/entry-format.ts';
import { EntryPrinter, type EntrySort } from '../output/dump/entry-printer.ts';
import type { Progress } from './progress.ts';

export interface DumpEntries {
  readonly filter: EntryFilter;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  readonly limit?: number | undefined;
}

export interface PrintEntries extends DumpEntries {
  readonly format: EntryFormat;
  readonly sort?: EntrySort | undefined;
}

/** Prints the entries that pass. @throws {IncompleteError} after the output, when the walk did not cover the map. */
export async function printEntries(ipcache: IpcacheMap, options: PrintEntries): Promise<void> {
  const { format, sort, limit } = options;
  const { layout, map } = ipcache;
  const printer = new EntryPrinter({ format, layout, mostEntries: map.info.maxEntries, sort, limit });
  let entries = 0;
  try {
    const listing = await list(ipcache, { ...options, limit: sort === undefined ? limit : undefined }, (...bytes) => {
      printer.entry(...bytes);
      entries++;
    });
    printer.end(listing);
    assertComplete(ipcache, listing);
  } catch (error) {
    if (!(error instanceof StdoutClosed || error instanceof IncompleteError)) printer.breakOff(entries);
    throw error;
  }
}

/** Counts the entries that pass. */
export function countEntries(ipcache: IpcacheMap, options: DumpEntries): Promise<Listing> {
  return list(ipcache, options, () => {});
}

/** @throws {IncompleteError} WALK_INCOMPLETE */
export function assertComplete({ map }: IpcacheMap, { complete, reason, entries }: Listing): void {
  if (complete) return;
  throw new IncompleteError(`Cannot list all of ${map.label}: ${reason ?? 'the walk was cut off'}`, {
    code: 'WALK_INCOMPLETE',
    hint: 'what was listed is right; run it again when the map changes less',
    operands: { mapId: map.info.id, entries },
  });
}

type OnEntry = Parameters<typeof listEntries>[1]['onEntry'];

async function list(ipcache: IpcacheMap, options: DumpEntries, onEntry: OnEntry): Promise<Listing> {
  const { map, layout } = ipcache;
  const { filter, signal, progress, limit } = options;
  try {
    return await listEntries(walkMap(map, { signal }), {
      valueBytes: map.info.valueBytes,
      accepts: entryPredicate(layout, filter),
      limit,
      onEntry,
      onProgress: (seen) => progress.update(seen),
    });
  } finally {
    progress.end();
  }
}
