/** Where a restore reads from: a map, or a snapshot where the map is gone. */
import { walkMap } from '../bpf/walk.ts';
import { Labels } from '../identity/labels.ts';
import type { IpcacheMap } from '../ipcache/ipcache-map.ts';
import { KEY_BYTES, type Layout } from '../ipcache/layout.ts';
import { readTable, snapshotLayout } from '../snapshot/read-table.ts';
import type { SnapshotReader } from '../snapshot/snapshot-reader.ts';
import type { Replaced } from './new-map-spec.ts';

export interface Visitor {
  onEntry(keys: Uint8Array, key: number, values: Uint8Array, value: number): void;
  /** After at most 4096 entries. */
  afterBatch?(): Promise<void>;
}

export interface Coverage {
  readonly complete: boolean;
  readonly reason?: string | undefined;
}

export interface Outgoing {
  /** Shape and size, for a map that is made after it. */
  readonly map: Replaced;
  /** Labels that the source itself has. */
  readonly labels?: (id: number) => Labels | undefined;
  /** Numbers that the source has labels of. */
  readonly labelled?: () => Iterable<number>;
  visit(visitor: Visitor): Promise<Coverage>;
}

const BATCH_ENTRIES = 4096;

export function outgoingMap(ipcache: IpcacheMap, signal?: AbortSignal): Outgoing {
  const { map, layout } = ipcache;
  const { valueBytes, maxEntries, flags } = map.info;
  return {
    map: { layout, maxEntries, flags },
    async visit({ onEntry, afterBatch }) {
      const walk = walkMap(map, { signal, batchEntries: BATCH_ENTRIES });
      for (let step = await walk.next(); ; step = await walk.next()) {
        if (step.done) return { complete: step.value.complete, reason: step.value.reason };
        const { keys, values, count, firstNew } = step.value;
        for (let i = firstNew; i < count; i++) onEntry(keys, i * KEY_BYTES, values, i * valueBytes);
        await afterBatch?.();
      }
    },
  };
}

/** @throws {MalformedError} from `visit`, when the file is damaged or cut off */
export function outgoingSnapshot(reader: SnapshotReader): Outgoing {
  const layout: Layout = snapshotLayout(reader.header.map);
  const { maxEntries, flags } = reader.header.map;
  return {
    map: { layout, maxEntries, flags },
    labels(id) {
      const texts = reader.identities.labels(id);
      return texts === undefined ? undefined : Labels.parse(texts);
    },
    *labelled() {
      for (const { identity } of reader.identities) yield identity;
    },
    async visit({ onEntry, afterBatch }) {
      const table = await readTable(reader);
      const { keys, values, count, valueBytes } = table;
      for (let i = 0; i < count; i++) {
        onEntry(keys, i * KEY_BYTES, values, i * valueBytes);
        if (i % BATCH_ENTRIES === BATCH_ENTRIES - 1) await afterBatch?.();
      }
      const { complete } = reader.end;
      return { complete, ...(!complete && { reason: 'the snapshot does not cover its map' }) };
    },
  };
}
