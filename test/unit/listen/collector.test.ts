import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CacheDesired } from '../../../src/lib/listen/cache-desired.ts';
import { Collector } from '../../../src/lib/listen/collector.ts';
import { openState, type State } from '../../../src/lib/state/state.ts';
import { LoopSite, untilTrue } from '../../support/loop-site.ts';
import { entriesOf } from '../../support/map-words.ts';
import { entryBytes } from '../../support/pinned-ipcache.ts';

let site: LoopSite;
let state: State;
let collector: Collector;

beforeEach(async () => {
  site = new LoopSite();
  state = openState({ directory: site.setup.stateDirectory, pin: site.pin });
  const { setup, cache, group: sources, follower } = site;
  collector = new Collector({
    setup,
    state,
    desired: new CacheDesired(cache, sources),
    follower,
    sources,
    collected: [],
    onChange: () => {},
  });
  site.start();
  for (let i = 1; i <= 20; i++) site.sources[0]?.upsert(`10.0.0.${i}`, 1000 + i);
  await untilTrue('written', () => site.fake.store.size === 20);
});
afterEach(async () => {
  await collector.stop();
  await site[Symbol.asyncDispose]();
  state[Symbol.dispose]();
});

/** Somebody else's entry. */
function stray(prefix: string, identity: number): void {
  const { key, value } = entryBytes('v2', { prefix, identity });
  site.fake.store.update(key, value);
}

async function sync(): Promise<void> {
  site.sources[0]?.synced();
  await untilTrue('synced', () => site.group.isSynced);
}

describe('Collector', () => {
  it('refuses until all sources are complete, counts and tells it', async () => {
    stray('10.9.9.9/32', 1999);
    await expect(collector.run()).rejects.toMatchObject({ code: 'NOT_SYNCED', hint: 'waiting for fake' });
    expect(collector.counts).toEqual({ runs: 0, failures: 1, deleted: 0 });
    expect(site.toldOf('gc-failed')).toHaveLength(1);
    expect(site.fake.store.size).toBe(21);
  });

  it('has nothing to do, and nothing to wait for, where the map is like the cache', async () => {
    await sync();
    const begun = performance.now();
    expect(await collector.run()).toMatchObject({ entries: 20, stale: 0, deleted: 0, skipped: 0 });
    expect(performance.now() - begun).toBeLessThan(10_000);
    expect(collector.counts).toEqual({ runs: 1, failures: 0, deleted: 0, lastRun: '2026-01-02T03:04:05.000Z' });
    expect(collector.collected).toEqual([]);
  });

  it('deletes what is missing twice, with a backup, and remembers how many for an hour', async () => {
    stray('10.9.9.9/32', 1999);
    await sync();
    // One that is under way is not begun again.
    const [{ backup = '', ...result }, same] = await Promise.all([collector.run(), collector.run()]);
    expect(same.backup).toBe(backup);
    expect(result).toMatchObject({ entries: 21, stale: 1, deleted: 1, skipped: 0 });
    expect(existsSync(backup)).toBe(true);
    expect(entriesOf(site.fake).some((text) => text.startsWith('10.9.9.9'))).toBe(false);
    expect(collector.counts).toMatchObject({ runs: 1, failures: 0, deleted: 1 });
    expect(collector.collected).toMatchObject([{ family: 'ipv4', deleted: 1 }]);
    site.clock.pass(3_600_001);
    expect(collector.collected).toEqual([]);
  });

  it('refuses to delete too much', async () => {
    for (let i = 0; i < 10; i++) stray(`10.9.9.${i}/32`, 1999);
    await sync();
    await expect(collector.run()).rejects.toMatchObject({ exitCode: 13 });
    expect([site.fake.store.size, collector.counts.failures]).toEqual([30, 1]);
  });

  it('an end in the middle deletes nothing', async () => {
    stray('10.9.9.9/32', 1999);
    await sync();
    const run = collector.run().catch((error: unknown) => error);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await collector.stop();
    expect(await run).toBeInstanceOf(Error);
    expect([site.fake.store.size, collector.counts.deleted]).toEqual([21, 0]);
    expect(site.toldOf('gc-failed')).toEqual([]);
  });
});

describe('Collector.start()', () => {
  it('runs at every interval, once the sources are complete, and not after the end', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const own = new Collector({
        setup: { ...site.setup, gcIntervalMs: 300_000 },
        state,
        desired: new CacheDesired(site.cache, site.group),
        follower: site.follower,
        sources: site.group,
        collected: [],
        onChange: () => {},
      });
      own.start();
      vi.advanceTimersByTime(300_000);
      expect(own.counts).toEqual({ runs: 0, failures: 0, deleted: 0 });
      await sync();
      vi.advanceTimersByTime(300_000);
      await untilTrue('first', () => own.counts.runs === 1);
      vi.advanceTimersByTime(299_999);
      vi.advanceTimersByTime(1);
      await untilTrue('second', () => own.counts.runs === 2);
      await own.stop();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});
