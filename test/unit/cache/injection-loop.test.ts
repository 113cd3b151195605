import { describe, expect, test } from 'vitest';
import { Ipcache } from '../../../src/lib/cache/ipcache.ts';
import type { MetadataUpdate } from '../../../src/lib/cache/metadata.ts';
import type { CacheProblem } from '../../../src/lib/cache/problem.ts';
import { CachingAllocator } from '../../../src/lib/identity/caching-allocator.ts';
import { Labels } from '../../../src/lib/identity/labels.ts';
import { parsePrefix } from '../../../src/lib/net/prefix.ts';
import { FakeScheduler } from '../../support/fake-scheduler.ts';

function update(prefix: string, ...labels: string[]): MetadataUpdate {
  return {
    prefix: parsePrefix(prefix),
    source: 'generated',
    resource: 'cnp/a/b',
    info: { labels: Labels.parse(labels) },
  };
}

function hosts(count: number): MetadataUpdate[] {
  return Array.from({ length: count }, (_, i) => update(`10.0.${i >> 8}.${i & 255}/32`, `fqdn:host-${i % 7}`));
}

function newCache(startsReady = true) {
  const log: string[] = [];
  const problems: CacheProblem[] = [];
  const allocator = new CachingAllocator({ onSelectorUpdate: ({ deleted }) => log.push(`freed ${deleted.join(' ')}`) });
  const cache = new Ipcache({
    allocator,
    startsReady,
    onIdentitiesAdded: (added) => log.push(`new ${[...added.keys()].join(' ')}`),
    onProblem: (problem) => problems.push(problem),
  });
  cache.addListener({ onIpcacheEvent: ({ kind, prefix, entry }) => log.push(`${kind} ${prefix} ${entry.identity}`) });
  return { cache, allocator, log, problems };
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  return Promise.race([promise.then(() => true), new Promise<boolean>((resolve) => setImmediate(resolve, false))]);
}

describe('metadata that is resolved in the background', () => {
  test('is applied in slices, and its revision settles at the end', async () => {
    const { cache, log } = newCache();
    const scheduler = new FakeScheduler(1);
    cache.start(scheduler);
    const revision = cache.upsertMetadata(hosts(1000));
    const done = cache.waitForRevision(revision);
    scheduler.turn();
    expect(await isSettled(done)).toBe(false);
    scheduler.settle();
    expect(scheduler.turns).toBeGreaterThan(10);
    expect(await isSettled(done)).toBe(true);
    expect(log.filter((line) => line.startsWith('upsert'))).toHaveLength(1000);
  });

  test('counts as queued until it is applied, also what a failure leaves', () => {
    const { cache, allocator } = newCache();
    const scheduler = new FakeScheduler(1);
    cache.start(scheduler);
    cache.upsertMetadata(hosts(1000));
    expect(cache.queueLength).toBe(1000);
    scheduler.turn();
    expect(cache.entries.size).toBeLessThan(1000);
    expect(cache.queueLength).toBe(1000);
    scheduler.settle();
    expect([cache.entries.size, cache.queueLength]).toEqual([1000, 0]);
    expect(allocator.size).toBe(7);
    cache.upsertMetadata([update('10.1.0.1/32', 'fqdn:a'), update('10.1.0.2/32', 'k8s:app=b')]);
    scheduler.settle();
    expect([cache.entries.size, cache.queueLength]).toEqual([1001, 1]);
  });

  test('goes to policy before entries, deletes go before identities are freed', () => {
    const { cache, log } = newCache();
    cache.upsertMetadata([update('10.0.0.0/8', 'fqdn:a'), update('10.0.0.1/32', 'fqdn:b')]);
    cache.injectNow();
    log.length = 0;
    cache.removeMetadata([{ prefix: parsePrefix('10.0.0.0/8'), resource: 'cnp/a/b', what: ['labels'] }]);
    cache.injectNow();
    expect(log).toEqual([
      'new 16777219',
      'upsert 10.0.0.1/32 16777219',
      'delete 10.0.0.0/8 16777217',
      'freed 16777217 16777218',
    ]);
  });

  test('releases identities after every 512 prefixes', () => {
    const { cache, log } = newCache();
    cache.injectNow();
    cache.upsertMetadata(hosts(1100));
    cache.injectNow();
    log.length = 0;
    cache.upsertMetadata(
      hosts(1100).map((host, i) => ({ ...host, info: { labels: Labels.parse([`fqdn:new-${i}`]) } })),
    );
    cache.injectNow();
    const blocks = log
      .join('\n')
      .split(/^new .*$/m)
      .slice(1);
    expect(blocks.map((block) => block.match(/^upsert/gm)?.length)).toEqual([512, 512, 76]);
  });

  test('keeps what succeeded, queues the rest again and waits longer each time, up to a minute', async () => {
    const { cache, log, problems } = newCache();
    const scheduler = new FakeScheduler();
    cache.start(scheduler);
    const revision = cache.upsertMetadata([
      update('10.0.0.1/32', 'fqdn:a'),
      update('10.0.0.2/32', 'k8s:app=x'),
      update('10.0.0.3/32', 'fqdn:c'),
    ]);
    const done = cache.waitForRevision(revision);
    scheduler.settle();
    expect(log).toEqual(['new 16777217', 'upsert 10.0.0.1/32 16777217']);
    expect(cache.queued).toEqual(['10.0.0.2/32', '10.0.0.3/32']);
    expect(problems).toEqual([expect.objectContaining({ kind: 'allocation-failed', prefix: '10.0.0.2/32' })]);
    const delays: number[] = [];
    for (let i = 0; i < 9; i++) {
      const [delay = 0] = scheduler.waiting;
      delays.push(delay);
      scheduler.pass(delay);
    }
    expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect(await isSettled(done)).toBe(false);
    cache.upsertMetadata([update('10.0.0.2/32', 'fqdn:b')]);
    scheduler.settle();
    expect(await isSettled(done)).toBe(true);
    expect(cache.queueLength).toBe(0);
    expect(scheduler.waiting).toEqual([]);
    expect(cache.get('10.0.0.3/32')).toBeDefined();
  });

  test('waits until the cache is ready', async () => {
    const { cache, log } = newCache(false);
    const scheduler = new FakeScheduler();
    cache.start(scheduler);
    const done = cache.waitForRevision(cache.upsertMetadata(hosts(3)));
    scheduler.settle();
    expect([log.length, cache.queueLength, cache.injectNow()]).toEqual([0, 3, undefined]);
    cache.setReady();
    scheduler.settle();
    expect(await isSettled(done)).toBe(true);
  });

  test('cannot be resolved at once while a run goes on', () => {
    const { cache } = newCache();
    const scheduler = new FakeScheduler(3);
    cache.start(scheduler);
    cache.upsertMetadata(hosts(200));
    scheduler.turn();
    expect(() => cache.injectNow()).toThrow(TypeError);
    cache.stop();
    scheduler.settle();
    expect(cache.entries.size).toBe(200);
    expect(cache.injectNow()).toEqual({ remaining: [] });
  });

  test('begins nothing new when it was stopped', () => {
    const { cache } = newCache();
    const scheduler = new FakeScheduler();
    cache.start(scheduler);
    cache.upsertMetadata([update('10.0.0.2/32', 'k8s:app=x')]);
    scheduler.settle();
    cache.stop();
    expect(scheduler.waiting).toEqual([]);
    cache.upsertMetadata(hosts(1));
    expect(scheduler.turn()).toBe(false);
  });

  test('a change that changes nothing has a revision that is over already', async () => {
    const { cache } = newCache();
    cache.upsertMetadata(hosts(1));
    cache.injectNow();
    expect(await isSettled(cache.waitForRevision(cache.upsertMetadata(hosts(1))))).toBe(true);
  });

  test('changes that come between two slices are not lost', async () => {
    const { cache } = newCache();
    const scheduler = new FakeScheduler(3);
    cache.start(scheduler);
    cache.upsertMetadata(hosts(200));
    scheduler.turn();
    cache.removeMetadata([{ prefix: parsePrefix('10.0.0.0/32'), resource: 'cnp/a/b', what: ['labels'] }]);
    cache.upsertMetadata([update('10.0.0.199/32', 'fqdn:late')]);
    const done = cache.waitForRevision(cache.upsertMetadata([update('10.0.9.9/32', 'fqdn:new')]));
    scheduler.settle();
    expect(await isSettled(done)).toBe(true);
    expect(cache.get('10.0.0.0/32')).toBeUndefined();
    expect(cache.get('10.0.9.9/32')).toBeDefined();
    expect(cache.entries.size).toBe(200);
  });
});
