import { describe, expect, it } from 'vitest';
import { kindOf, MapRows } from '../../../src/lib/gc/map-rows.ts';
import { planStale } from '../../../src/lib/gc/plan.ts';
import { layoutNamed } from '../../../src/lib/ipcache/layout.ts';
import { entryBytes, type WordEntry } from '../../support/pinned-ipcache.ts';

function rowsOf(entries: readonly WordEntry[]): MapRows {
  const rows = new MapRows(layoutNamed('v2'));
  for (const entry of entries) {
    const { key, value } = entryBytes('v2', entry);
    rows.add(key, 0, value, 0);
  }
  return rows;
}

describe('planStale()', () => {
  it('counts what is judged by kind, whatever the order of kinds', async () => {
    const rows = rowsOf([
      { prefix: '10.0.0.1/32', identity: 1001 },
      { prefix: '10.0.0.2/32', identity: 16_777_217 },
      { prefix: '10.0.0.3/32', identity: 1002 },
      { prefix: 'fd00::1/128', identity: 1003 },
      { prefix: '10.0.0.4/32', identity: 1004 },
      { prefix: '10.0.0.1/32@2', identity: 1005 },
    ]);
    const { judged, stale, kept } = await planStale({ rows, wanted: new Uint8Array(rows.count), desired: [] });
    expect([...judged].map(([code, count]) => ({ ...kindOf(code), count }))).toEqual([
      { scope: 'global', family: 'ipv4', clusterId: 0, count: 3 },
      { scope: 'local', family: 'ipv4', clusterId: 0, count: 1 },
      { scope: 'global', family: 'ipv6', clusterId: 0, count: 1 },
    ]);
    expect(stale).toEqual([0, 1, 2, 3, 4]);
    expect(kept).toEqual([{ row: 5, why: 'other-cluster' }]);
  });

  it('lets others work in between', async () => {
    const entries = Array.from({ length: 10_000 }, (_, i) => ({
      prefix: `10.0.${i >> 8}.${i & 255}/32`,
      identity: 1001,
    }));
    const rows = rowsOf(entries);
    let turns = 0;
    const count = (): void => {
      turns++;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    await planStale({ rows, wanted: new Uint8Array(rows.count), desired: [] });
    clearImmediate(timer);
    expect(turns).toBeGreaterThanOrEqual(2);
  });
});
