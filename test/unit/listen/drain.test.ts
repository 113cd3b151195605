import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EBUSY, ENOSPC } from '../../../src/lib/bpf/errno.ts';
import { BPF_MAP_UPDATE_BATCH, BPF_MAP_UPDATE_ELEM } from '../../../src/lib/bpf/uapi.ts';
import { Labels } from '../../../src/lib/identity/labels.ts';
import { Auditor } from '../../../src/lib/listen/auditor.ts';
import { CacheDesired } from '../../../src/lib/listen/cache-desired.ts';
import { Collector } from '../../../src/lib/listen/collector.ts';
import { drainLoop } from '../../../src/lib/listen/drain.ts';
import { Keeper } from '../../../src/lib/listen/keeper.ts';
import type { LoopParts } from '../../../src/lib/listen/loop-parts.ts';
import { Releaser } from '../../../src/lib/listen/releaser.ts';
import { parsePrefix } from '../../../src/lib/net/prefix.ts';
import type { StateCheckpoint } from '../../../src/lib/state/checkpoint.ts';
import { openState } from '../../../src/lib/state/state.ts';
import { LoopSite, untilTrue } from '../../support/loop-site.ts';
import { entriesOf } from '../../support/map-words.ts';

function newParts(site: LoopSite): { parts: LoopParts; checkpoint: () => StateCheckpoint } {
  const { setup, cache, allocator, follower, group: sources } = site;
  const state = openState({ directory: setup.stateDirectory, pin: site.pin });
  const onChange = (): void => {};
  const { rules, reassert, clock, tell, bootId } = setup;
  const parts: LoopParts = {
    state,
    cache,
    allocator,
    follower,
    sources,
    keeper: new Keeper({
      state,
      cache,
      allocator,
      bootId,
      clock,
      tell,
      facts: (isFinal) => ({
        writer: { pid: setup.pid, started: new Date(clock.now()).toISOString(), drained: isFinal },
        placeholders: [],
        sources: sources.states,
        pending: isFinal ? follower.pending() : [],
        collected: [],
      }),
    }),
    releaser: new Releaser({ setup, cache, allocator, restored: undefined, writer: follower.writer, onChange }),
    auditor: new Auditor({ cache, follower, rules, reassert, monotonic: clock.monotonic, tell }),
    collector: new Collector({
      setup,
      state,
      desired: new CacheDesired(cache, sources),
      follower,
      sources,
      collected: [],
      onChange,
    }),
  };
  site.start();
  site.atEnd(async () => state[Symbol.dispose]());
  const file = path.join(setup.stateDirectory, 'checkpoint.json');
  return { parts, checkpoint: () => JSON.parse(readFileSync(file, 'utf8')) as StateCheckpoint };
}

/** A site on a clock that goes by itself: the end has a time. */
function newSite(stopTimeoutMs: number): LoopSite {
  const clock = { now: () => Date.now(), monotonic: () => performance.now() };
  return new LoopSite({ clock, stopTimeoutMs });
}

function network(prefix: string, label: string) {
  const info = { labels: Labels.parse([label]) };
  return {
    op: 'upsertMetadata',
    update: { prefix: parsePrefix(prefix), resource: 'cnp/a/b', source: 'generated', info },
  } as const;
}

describe('drainLoop()', () => {
  it('op 48: takes in, resolves and writes what was said just before the end, and keeps it', async () => {
    await using site = newSite(30_000);
    const { parts, checkpoint } = newParts(site);
    const [source] = site.sources;
    for (let i = 0; i < 500; i++) source?.send(network(`10.1.${i >> 8}.${i & 255}/32`, `fqdn:${i}`));
    const draining = drainLoop(parts, site.setup);
    // While it listens for a last moment.
    source?.send(network('10.2.0.0/24', 'fqdn:late'));
    source?.upsert('10.0.0.1', 7);
    await draining;
    expect(entriesOf(site.fake)).toHaveLength(502);
    const { identities, pending, writer } = checkpoint();
    expect([identities.length, pending, writer?.drained]).toEqual([501, [], true]);
    source?.upsert('10.0.0.2', 8);
    expect([site.fake.store.size, site.cache.entries.size]).toEqual([502, 502]);
  });

  it('waits for metadata that is just being resolved', async () => {
    await using site = newSite(30_000);
    const { parts, checkpoint } = newParts(site);
    for (let i = 0; i < 4000; i++) site.sources[0]?.send(network(`10.1.${i >> 8}.${i & 255}/32`, `fqdn:${i % 300}`));
    // Taken from the queue, and not yet in the cache.
    await untilTrue('begun', () => site.allocator.size > 0);
    expect(site.cache.entries.size).toBeLessThan(4000);
    await drainLoop(parts, site.setup);
    expect([site.fake.store.size, checkpoint().identities.length]).toEqual([4000, 300]);
  });

  it('tries failed writes again until its time is over, and keeps the rest as pending', async () => {
    await using site = newSite(1500);
    const { parts, checkpoint } = newParts(site);
    site.kernel.fail(BPF_MAP_UPDATE_BATCH, EBUSY, { times: 3 }).fail(BPF_MAP_UPDATE_ELEM, EBUSY, { times: 4 });
    site.sources[0]?.upsert('10.0.0.1', 7);
    await drainLoop(parts, site.setup);
    expect([entriesOf(site.fake), checkpoint().pending]).toEqual([['10.0.0.1/32=7'], []]);

    await using full = newSite(600);
    const { parts: others, checkpoint: other } = newParts(full);
    full.kernel.fail(BPF_MAP_UPDATE_BATCH, ENOSPC, { times: 1e6 }).fail(BPF_MAP_UPDATE_ELEM, ENOSPC, { times: 1e6 });
    full.sources[0]?.upsert('10.0.0.1', 7, { encryptKey: 3 });
    const begun = performance.now();
    await drainLoop(others, full.setup);
    expect(performance.now() - begun).toBeGreaterThan(550);
    expect(other()).toMatchObject({
      writer: { drained: true },
      pending: [{ op: 'upsert', prefix: '10.0.0.1/32', identity: 7, encryptKey: 3, errno: 'ENOSPC' }],
    });
  });

  it('says that the checkpoint could not be written, once the map has everything', async () => {
    await using site = newSite(5000);
    const { parts } = newParts(site);
    site.sources[0]?.upsert('10.0.0.1', 7);
    rmSync(site.setup.stateDirectory, { recursive: true });
    await expect(drainLoop(parts, site.setup)).rejects.toThrow(/^Cannot write .*checkpoint\.json/);
    expect(entriesOf(site.fake)).toEqual(['10.0.0.1/32=7']);
    expect(site.kernel.openDescriptors).toBe(0);
  });
});
