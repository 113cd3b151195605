/** What is written down of a collection: the bytes before they go, and how many went, for the limit. */
import { KEY_BYTES } from '../ipcache/layout.ts';
import type { BackupEntry } from '../state/backup.ts';
import type { CollectedState } from '../state/checkpoint.ts';
import { kindOf, type MapRows } from './map-rows.ts';

/** @yields entries whose bytes are good until the next one */
export function* garbageBackup(rows: MapRows, stale: readonly number[]): Generator<BackupEntry> {
  // Views of each would be more than their bytes.
  const key = new Uint8Array(KEY_BYTES);
  const before = new Uint8Array(rows.layout.value.bytes);
  for (const row of stale) {
    rows.copyTo(row, key, 0, before, 0);
    yield { prefix: rows.prefixText(row), identity: rows.identity(row), key, before };
  }
}

/** @param time RFC 3339 */
export function countCollected(rows: MapRows, deleted: readonly number[], time: string): CollectedState[] {
  const counts = new Map<string, CollectedState>();
  for (const [code, count] of rows.countKinds(deleted)) {
    const { scope, family } = kindOf(code);
    const before = counts.get(`${scope} ${family}`)?.deleted ?? 0;
    counts.set(`${scope} ${family}`, { time, scope, family, deleted: before + count });
  }
  return [...counts.values()];
}
