import { describe, expect, it } from 'vitest';
import { captureTable } from '../../../src/lib/snapshot/capture-table.ts';
import { FakeKernel } from '../../support/fake-kernel.ts';
import { ipKey } from '../../support/lpm-keys.ts';

/** A map whose content is exchanged at every call, for so many calls. */
function restless(calls: number) {
  const kernel = new FakeKernel();
  const { map, fake } = kernel.createMap({ maxEntries: 1000 });
  const keys = (net: number) => Array.from({ length: 30 }, (_, i) => ipKey(`10.${net}.${i >> 8}.${i & 255}/32`));
  const sets = [keys(1), keys(2)];
  const fill = (set: Uint8Array[], other: Uint8Array[]): void => {
    for (const key of other) fake.store.delete(key);
    for (const key of set) fake.store.update(key, new Uint8Array(24).fill(7));
  };
  fill(sets[0] ?? [], []);
  let seen = 0;
  kernel.onCall = ({ phase, map: called }) => {
    if (called !== fake || phase !== 'after' || ++seen > calls) return;
    fill(sets[seen % 2] ?? [], sets[(seen + 1) % 2] ?? []);
  };
  return { map, calls: () => seen };
}

describe('captureTable()', () => {
  it('takes all of a map that rests', async () => {
    const { map } = restless(0);
    const { table, complete } = await captureTable(map);
    expect([table.count, complete]).toEqual([30, true]);
  });

  it('tries an incomplete walk twice more, then gives what it has and says so', async () => {
    const never = restless(Number.POSITIVE_INFINITY);
    const { complete, reason } = await captureTable(never.map);
    expect([complete, reason]).toEqual([false, 'the map changed faster than it could be read']);
    const perTry = Math.floor(never.calls() / 3);
    const twice = restless(Math.floor(perTry * 2.5));
    expect((await captureTable(twice.map)).complete).toBe(true);
  });

  it('does not try again after it was interrupted', async () => {
    const { map } = restless(0);
    const abort = new AbortController();
    abort.abort();
    expect(await captureTable(map, { signal: abort.signal })).toMatchObject({ complete: false, reason: 'interrupted' });
  });
});
