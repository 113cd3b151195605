/** A snapshot of a map that is there now, before it is written anywhere. */
import type { EntryTable } from '../ipcache/entry-table.ts';
import type { IpcacheMap } from '../ipcache/ipcache-map.ts';
import type { Layout, LayoutName } from '../ipcache/layout.ts';
import { type CapturedTable, type CaptureOptions, captureTable } from './capture-table.ts';
import { type Joined, joinAllocator } from './join-allocator.ts';
import type { SnapshotHeader, SnapshotIdentity, SnapshotMap } from './lines.ts';
import type { MachineFacts } from './machine-facts.ts';
import { type TableFacts, tableFacts } from './table-facts.ts';

export interface LiveSnapshot {
  readonly header: SnapshotHeader;
  readonly identities: readonly SnapshotIdentity[];
  readonly table: EntryTable;
  readonly layout: Layout;
  readonly localEntries: number;
  readonly complete: boolean;
  /** Why it is not complete. */
  readonly reason?: string | undefined;
  /** There is no allocator checkpoint. */
  readonly noCheckpoint: boolean;
  /** Local and remote-node numbers of the map without labels. */
  readonly unlabelled: number;
}

export interface TakeOptions extends CaptureOptions {
  readonly facts: MachineFacts;
  readonly cluster?: string | undefined;
  /** The agent's checkpoint; absent: join no labels from it. */
  readonly allocatorState?: string | undefined;
  /** Labels from elsewhere, for numbers that the checkpoint does not have. */
  readonly more?: readonly SnapshotIdentity[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<void>;
  /** How long to wait for the checkpoint to have all numbers; by default as long as the agent may take. */
  readonly patienceMs?: number | undefined;
  /** Before waiting for the checkpoint to have that many numbers. */
  readonly onWait?: (missing: number) => void;
}

/**
 * Reads the map and joins labels.
 * @throws {ToolError} what the walk throws; {MalformedError} when the checkpoint is damaged
 */
export async function takeSnapshot(ipcache: IpcacheMap, options: TakeOptions): Promise<LiveSnapshot> {
  const { facts, cluster, now } = options;
  const { captured, identities, absent, missing } = await capture(ipcache, options);
  const { table, complete, reason } = captured;
  const { families, localEntries } = captured.facts;
  return {
    header: {
      ...facts,
      ...(cluster !== undefined && { cluster }),
      time: new Date(now()).toISOString(),
      map: describeMap(ipcache),
      families,
    },
    identities,
    table,
    layout: ipcache.layout,
    localEntries,
    complete,
    reason,
    noCheckpoint: absent,
    unlabelled: missing,
  };
}

interface Captured extends CapturedTable {
  readonly facts: TableFacts;
}

async function capture(ipcache: IpcacheMap, options: TakeOptions): Promise<Joined<Captured>> {
  const { allocatorState: path, more = [], pause, patienceMs, onWait } = options;
  return joinAllocator({
    path,
    more,
    async capture() {
      const captured = await captureTable(ipcache.map, options);
      return { ...captured, facts: tableFacts(captured.table, ipcache.layout) };
    },
    allocated: ({ facts }) => facts.allocated,
    pause,
    patienceMs,
    ...(onWait && { onWait }),
  });
}

function describeMap({ map, layoutChoice }: IpcacheMap): SnapshotMap {
  const { id, maxEntries, flags } = map.info;
  return {
    id,
    ...(map.path !== undefined && { pin: map.path }),
    layout: layoutChoice.layout.name as LayoutName | 'btf',
    ...(layoutChoice.by === 'assumed' && { assumed: true as const }),
    maxEntries,
    flags,
  };
}
