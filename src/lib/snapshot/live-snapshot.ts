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
  const { layout } = ipcache;
  const { facts, cluster, more = [], now } = options;
  const { captured, identities, absent } = await capture(ipcache, options);
  const table = tableFacts(captured.table, layout);
  const joined = merge(identities, more);
  const known = new Set(joined.map(({ identity }) => identity));
  return {
    header: {
      ...facts,
      ...(cluster !== undefined && { cluster }),
      time: new Date(now()).toISOString(),
      map: describeMap(ipcache),
      families: table.families,
    },
    identities: joined,
    table: captured.table,
    layout,
    localEntries: table.localEntries,
    complete: captured.complete,
    reason: captured.reason,
    noCheckpoint: absent,
    unlabelled: [...table.allocated].filter((identity) => !known.has(identity)).length,
  };
}

async function capture(ipcache: IpcacheMap, options: TakeOptions): Promise<Joined<CapturedTable>> {
  const read = (): Promise<CapturedTable> => captureTable(ipcache.map, options);
  const { allocatorState: path, more = [], pause, patienceMs, onWait } = options;
  if (path === undefined) return { captured: await read(), identities: [], absent: true, missing: 0 };
  const elsewhere = new Set(more.map(({ identity }) => identity));
  const allocated = ({ table }: CapturedTable): TableFacts['allocated'] =>
    new Set([...tableFacts(table, ipcache.layout).allocated].filter((identity) => !elsewhere.has(identity)));
  return joinAllocator({ path, capture: read, allocated, pause, patienceMs, ...(onWait && { onWait }) });
}

function merge(first: readonly SnapshotIdentity[], more: readonly SnapshotIdentity[]): SnapshotIdentity[] {
  const known = new Set(first.map(({ identity }) => identity));
  return [...first, ...more.filter(({ identity }) => !known.has(identity))].sort((a, b) => a.identity - b.identity);
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
