/** Where `ipc restore` reads from: the map, or a snapshot that may be put where it is put. */
import { MalformedError, NotFoundError, RefusedError } from '../errors.ts';
import type { IdentityRecord } from '../identity/caching-allocator.ts';
import { DEFAULT_CHECKPOINT_PATH, readCheckpoint } from '../identity/checkpoint.ts';
import type { IpcacheMap } from '../ipcache/ipcache-map.ts';
import { type Outgoing, outgoingMap, outgoingSnapshot } from '../restore/outgoing.ts';
import type { SnapshotHeader } from '../snapshot/lines.ts';
import type { MachineFacts } from '../snapshot/machine-facts.ts';
import { snapshotOpener } from '../snapshot/snapshot-opener.ts';
import type { SnapshotReader } from '../snapshot/snapshot-reader.ts';
import type { Log } from './log.ts';
import type { RestoreFlagValues } from './restore-flags.ts';

export interface RestoreSource extends AsyncDisposable {
  readonly outgoing: Outgoing;
  /** The open map; absent for a snapshot. */
  readonly ipcache?: IpcacheMap;
  readonly snapshot?: { readonly file: string; readonly header: SnapshotHeader };
}

/** The map as source; it is closed with it. */
export function mapSource(ipcache: IpcacheMap, signal: AbortSignal): RestoreSource {
  return {
    outgoing: outgoingMap(ipcache, signal),
    ipcache,
    [Symbol.asyncDispose]: async () => ipcache[Symbol.dispose](),
  };
}

/** @throws what openSnapshot throws @throws {RefusedError} SNAPSHOT_REDACTED */
export async function snapshotSource(file: string, readStdin: () => Promise<Uint8Array>): Promise<RestoreSource> {
  const reader: SnapshotReader = await snapshotOpener(file, readStdin)();
  if (reader.header.redacted === true) {
    await reader[Symbol.asyncDispose]();
    throw new RefusedError(`Cannot restore from ${file}: it is redacted, its addresses are not real ones`, {
      code: 'SNAPSHOT_REDACTED',
      hint: 'restore from the snapshot that it was made of',
      operands: { file },
    });
  }
  return {
    outgoing: outgoingSnapshot(reader),
    snapshot: { file, header: reader.header },
    [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose](),
  };
}

export interface SnapshotGuards {
  readonly flags: Pick<RestoreFlagValues, 'foreign' | 'max-age' | 'all'>;
  readonly facts: MachineFacts;
  /** The map that is written is there already. */
  readonly onLiveMap: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** @throws {RefusedError} SNAPSHOT_FOREIGN, SNAPSHOT_OLD, SNAPSHOT_ALL */
export function guardSnapshot(
  { file, header }: NonNullable<RestoreSource['snapshot']>,
  { flags, facts, onLiveMap, now }: SnapshotGuards,
): void {
  const refuse = (code: string, state: string, hint: string): never => {
    throw new RefusedError(`Cannot restore from ${file}: ${state}`, { code, hint, operands: { file } });
  };
  if (!flags.foreign && isForeign(header, facts)) {
    const of = header.node === undefined ? 'nobody knows which machine' : header.node;
    refuse(
      'SNAPSHOT_FOREIGN',
      `it was taken on another machine (${of})`,
      'local numbers mean something else there; --foreign says that this is meant',
    );
  }
  if (!onLiveMap) return;
  if (flags.all) {
    refuse(
      'SNAPSHOT_ALL',
      'all of it must not go onto a map that is in use',
      'leave out --all: global entries are announced again, and those of a snapshot may be gone by now',
    );
  }
  const ageMs = now - Date.parse(header.time);
  if (ageMs > flags['max-age']) {
    const age = `${Math.round(ageMs / 60_000)} minutes old, taken at ${header.time}`;
    refuse('SNAPSHOT_OLD', `it is ${age}`, `numbers may have moved on since; --max-age allows older ones`);
  }
}

/** A snapshot that does not say where it is from may be from anywhere. */
function isForeign(header: SnapshotHeader, facts: MachineFacts): boolean {
  if (header.machine !== undefined && facts.machine !== undefined) return header.machine !== facts.machine;
  return header.node === undefined || header.node !== facts.node;
}

export interface AllocatorState {
  readonly path: string;
  readonly state: 'read' | 'missing' | 'damaged';
  readonly records: readonly IdentityRecord[] | undefined;
}

/**
 * Reads the agent's checkpoint. One that is missing is normal; of a damaged one the user is told, and the map has to do.
 * @throws {NotFoundError} the user named a file that is not there @throws {ToolError} it may not be read
 */
export function readAllocatorState(flags: Pick<RestoreFlagValues, 'allocator-state'>, logger: Log): AllocatorState {
  const named = flags['allocator-state'];
  const path = named ?? DEFAULT_CHECKPOINT_PATH;
  try {
    const records = readCheckpoint(path);
    if (records !== undefined) return { path, state: 'read', records };
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    logger.warn(`${error.message}; going on with what the map tells`, error.operands);
    return { path, state: 'damaged', records: undefined };
  }
  if (named === undefined) return { path, state: 'missing', records: undefined };
  throw new NotFoundError(`Cannot read allocator checkpoint ${named}: no such file`, {
    hint: 'leave out --allocator-state when there is none; the map alone keeps the numbers',
    operands: { file: named },
  });
}
