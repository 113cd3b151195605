/** What the map has yet to take, in the words of a checkpoint. */
import { NOTHING, REMOVE, type WriteQueue } from '../datapath/write-queue.ts';
import { decodeEntry } from '../ipcache/entry.ts';
import { decodeKey, keyText } from '../ipcache/key.ts';
import type { Layout } from '../ipcache/layout.ts';
import { KEY_BYTES } from '../ipcache/layout.ts';
import type { PendingWrite } from '../state/checkpoint.ts';

/** @param queues the oldest first: of one prefix the last one counts */
export function pendingWrites(
  layout: Layout,
  queues: readonly WriteQueue[],
  errno: string | undefined,
): PendingWrite[] {
  const pending = new Map<string, PendingWrite>();
  for (const queue of queues) {
    for (let i = 0; i < queue.slots; i++) {
      if (queue.operation(i) === NOTHING) continue;
      const prefix = keyText(decodeKey(layout, queue.keys, i * KEY_BYTES), queue.keys, i * KEY_BYTES);
      pending.delete(prefix);
      pending.set(prefix, { ...one(layout, queue, i, prefix), ...(errno !== undefined && { errno }) });
    }
  }
  return [...pending.values()];
}

function one(layout: Layout, queue: WriteQueue, index: number, prefix: string): PendingWrite {
  if (queue.operation(index) === REMOVE) return { op: 'delete', prefix };
  const entry = decodeEntry(layout, {
    keys: queue.keys,
    keyOffset: index * KEY_BYTES,
    values: queue.values,
    valueOffset: index * queue.valueBytes,
  });
  return {
    op: 'upsert',
    prefix,
    identity: entry.identity,
    encryptKey: entry.encryptKey,
    flags: entry.flagNames,
    ...(entry.tunnelEndpoint !== undefined && { tunnelEndpoint: entry.tunnelEndpoint }),
  };
}
