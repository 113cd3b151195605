/** The writes of `ipc restore` into a map that is there: backed up, never over anything that was not planned. */

import type { BpfMap } from '../bpf/map.ts';
import { openPin } from '../bpf/open-pin.ts';
import { BPF_NOEXIST } from '../bpf/uapi.ts';
import { IncompleteError, LayoutError, ToolError } from '../errors.ts';
import type { Layout } from '../ipcache/layout.ts';
import { LinuxKernel } from '../native/linux-kernel.ts';
import type { CarriedEntries, CarriedEntry } from '../restore/carry-entries.ts';
import type { NotFitting } from '../restore/fill-new-map.ts';
import { type EntryWrite, encodePlanned, placeEntries } from '../restore/place-entries.ts';
import { isAdded, type PlannedEntry } from '../restore/planned-entry.ts';
import { readMachineFacts } from '../snapshot/machine-facts.ts';
import { type BackupEntry, writeBackup } from '../state/backup.ts';
import type { State } from '../state/state.ts';
import type { Prepared, RestoreRunOptions } from './restore-run.ts';

export interface Written {
  readonly changed: boolean;
  readonly failures: readonly Failure[];
  /** Entries written that rules skip. */
  readonly carried: number;
  /** The file that holds what was there before. */
  readonly backup?: string | undefined;
}

export interface Failure {
  readonly prefix: string;
  readonly identity?: number;
  /** Absent for one that a rule skips. */
  readonly entry?: PlannedEntry;
  readonly reason: string;
}

export const NOTHING_WRITTEN: Written = { changed: false, failures: [], carried: 0 };

/** Whether anything of the plan has to be written to a map that is there. */
export function hasWrites({ plan, carried, present }: Pick<Prepared, 'plan' | 'carried' | 'present'>): boolean {
  if (plan.entries.some((entry) => isAdded(entry) || entry.action === 'update')) return true;
  return carried !== undefined && present !== undefined && carried.lacking(present).lacking.length > 0;
}

/** @throws {ToolError} when the backup cannot be written or the map cannot be opened: then nothing was changed */
export async function writeToMap(
  prepared: Prepared,
  state: State | undefined,
  { now }: Pick<RestoreRunOptions, 'now'>,
): Promise<Written> {
  const { target, carried, present } = prepared;
  // What cannot be carried is told also where that was all that the target lacks.
  if (state === undefined || target.present === undefined || !hasWrites(prepared)) return foreseeCarried(prepared);
  const rest = carried !== undefined && present !== undefined ? carried.lacking(present) : NOTHING_LACKING;
  using map = openForWriting(target.pin, target.present.map.info.id);
  const { writes, unfit } = encodeWrites(prepared, map);
  const backup = await writeBackup(
    state.lock,
    {
      time: new Date(now()).toISOString(),
      command: 'restore',
      bootId: readMachineFacts().bootId ?? '',
      map: { id: map.info.id, pin: target.pin, layout: target.present.layout.name },
    },
    backupEntries(writes, rest.lacking),
  );
  const failed = placeEntries(map, writes).map(({ entry, error }) => ({ ...failure(entry), reason: error.message }));
  const notCarried = carryAll(map, rest.lacking);
  const written = writes.length - failed.length + rest.lacking.length - notCarried.length;
  return {
    changed: written > 0,
    failures: [...unfit, ...failed, ...notCarried, ...uncarriable(carried, rest.hiding)],
    carried: rest.lacking.length - notCarried.length,
    backup: backup?.path,
  };
}

/** What carrying would come to, without writing anything. */
export function foreseeCarried({ carried, present }: Pick<Prepared, 'carried' | 'present'>): Written {
  if (carried === undefined) return NOTHING_WRITTEN;
  const { lacking, hiding } = present === undefined ? NOTHING_LACKING : carried.lacking(present);
  const count = present === undefined ? carried.count : lacking.length;
  return { changed: false, failures: uncarriable(carried, hiding), carried: count };
}

const NOTHING_LACKING = { lacking: [], hiding: [] };

function uncarriable(carried: CarriedEntries | undefined, hiding: readonly CarriedEntry[]): Failure[] {
  return [
    ...hiding.map(({ prefix, identity }) => ({ prefix, identity, reason: HIDES })),
    ...misfits(carried?.notFitting ?? []),
  ];
}

const HIDES = 'would-lose-tunnel: a wider entry has a tunnel or a key that this one would hide';

/** Entries that the layout of the target has no place for. */
export function misfits(notFitting: readonly NotFitting[]): Failure[] {
  return notFitting.map(({ prefix, identity, error }) => ({
    prefix,
    identity,
    reason: `does-not-fit: ${error.message}`,
  }));
}

function encodeWrites({ plan, target }: Prepared, map: BpfMap): { writes: EntryWrite[]; unfit: Failure[] } {
  const writes: EntryWrite[] = [];
  const unfit: Failure[] = [];
  const choice = target.present?.layoutChoice;
  for (const entry of choice === undefined ? [] : plan.entries) {
    if (!isAdded(entry) && entry.action !== 'update') continue;
    try {
      const encoded = encodePlanned(choice as NonNullable<typeof choice>, entry);
      if (entry.action === 'update') {
        const before = stored(map, encoded.key);
        const value = renumbered((choice as NonNullable<typeof choice>).layout, before, encoded.value);
        writes.push({ ...encoded, value, entry, before });
      } else writes.push({ ...encoded, entry });
    } catch (error) {
      if (!(error instanceof LayoutError)) throw error;
      unfit.push({ ...failure(entry), reason: `does-not-fit: ${error.message}` });
    }
  }
  return { writes, unfit };
}

/** Another number is all that changes: what else the entry has stays, and bits that this version does not know. */
function renumbered({ value: { identity } }: Layout, before: Uint8Array, wanted: Uint8Array): Uint8Array {
  const value = Uint8Array.from(before);
  value.set(wanted.subarray(identity.offset, identity.offset + identity.bytes), identity.offset);
  return value;
}

function stored(map: BpfMap, key: Uint8Array): Uint8Array {
  const value = new Uint8Array(map.info.valueBytes);
  map.lookup(key, value);
  return value;
}

function* backupEntries(writes: readonly EntryWrite[], carried: readonly CarriedEntry[]): Generator<BackupEntry> {
  for (const { key, value, before, entry } of writes) {
    yield { prefix: entry.prefix, identity: entry.identity, key, ...(before && { before }), after: value };
  }
  for (const { prefix, identity, key, value } of carried) yield { prefix, identity, key, after: value };
}

function carryAll(map: BpfMap, entries: readonly CarriedEntry[]): Failure[] {
  const failures: Failure[] = [];
  for (const { prefix, identity, key, value } of entries) {
    try {
      map.update(key, value, BPF_NOEXIST);
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      failures.push({ prefix, identity, reason: error.message });
    }
  }
  return failures;
}

function failure(entry: PlannedEntry): Pick<Failure, 'prefix' | 'identity'> & { entry: PlannedEntry } {
  return { prefix: entry.prefix, identity: entry.identity, entry };
}

/** Opens the map for writing and sees that it is the one that was read. @throws {IncompleteError} MAP_REPLACED */
function openForWriting(pin: string, mapId: number): BpfMap {
  const map = openPin(pin, { kernel: new LinuxKernel(), write: true });
  if (map.info.id === mapId) return map;
  map[Symbol.dispose]();
  throw new IncompleteError(`Cannot write ${pin}: another map was pinned there since it was read`, {
    code: 'MAP_REPLACED',
    hint: 'run it again: it then restores into the map that is there now',
    operands: { path: pin, mapId },
  });
}
