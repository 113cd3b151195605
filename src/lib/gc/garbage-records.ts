/** What is written down of a collection: the bytes before they go, and how many went, for the limit. */
import type { BackupEntry } from '../state/backup.ts';
import type { CollectedState } from '../state/checkpoint.ts';
import { kindOf, type MapRows } from './map-rows.ts';

export function* garbageBackup(rows: MapRows, stale: readonly number[]): Generator<BackupEntry> {
  for (const row of stale) {
    yield { prefix: rows.prefixText(row), identity: rows.identity(row), key: rows.key(row), before: rows.value(row) };
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
