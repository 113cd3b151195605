import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { MalformedError, NotFoundError } from '../../../src/lib/errors.ts';
import { Labels } from '../../../src/lib/identity/labels.ts';
import { parsePrefix } from '../../../src/lib/net/prefix.ts';
import type { SourceSink } from '../../../src/lib/sources/source.ts';
import { FakeSource } from '../../support/fake-source.ts';
import { LoopSite, untilTrue } from '../../support/loop-site.ts';

function metadata(prefix: string, label: string) {
  const update = {
    prefix: parsePrefix(prefix),
    resource: 'cnp/a/b',
    source: 'generated',
    info: { labels: Labels.parse([label]) },
  };
  return { op: 'upsertMetadata', update } as const;
}

/** A source whose attempts end as the list says; then it stays. */
class Failing extends FakeSource {
  readonly #ends: (Error | undefined)[];
  attempts = 0;

  constructor(...ends: (Error | undefined)[]) {
    super('failing');
    this.#ends = ends;
  }

  override async follow(sink: SourceSink, options: { readonly signal: AbortSignal }): Promise<void> {
    const error = this.#ends[this.attempts++];
    if (error !== undefined) throw error;
    await super.follow(sink, options);
  }
}

describe('SourceGroup', () => {
  it('is synced when every source has been complete, and then stays so', async () => {
    const sources = [new FakeSource('a'), new FakeSource('b')];
    await using site = new LoopSite({ sources });
    const { group } = site;
    const called: string[] = [];
    group.whenSynced(() => called.push('first'));
    site.start();
    await untilTrue('followed', () => site.group.feeds.length === 2);
    sources[0]?.synced();
    sources[0]?.lost('gone');
    await new Promise(setImmediate);
    expect([group.isSynced, group.unsynced.map(({ name }) => name)]).toEqual([false, ['b']]);
    site.clock.pass(5000);
    sources[1]?.synced();
    await untilTrue('synced', () => group.isSynced);
    expect(group.syncedAt).toBe(site.clock.ms);
    sources[1]?.synced();
    group.whenSynced(() => called.push('late'));
    expect(called).toEqual(['first', 'late']);
    expect(site.toldOf('synced')).toHaveLength(1);
  });

  it('is not synced before the cache has what was said', async () => {
    const source = new FakeSource();
    await using site = new LoopSite({ sources: [source] });
    site.start();
    await untilTrue('followed', () => source.readings === 0 && site.group.feeds.length === 1);
    for (let i = 0; i < 3000; i++) source.send(metadata(`10.1.${i >> 8}.${i & 255}/32`, `fqdn:${i % 50}`));
    source.synced();
    const seen: number[] = [];
    site.group.whenSynced(() => seen.push(site.cache.entries.size));
    expect([site.group.isSynced, site.cache.queueLength]).toEqual([false, 3000]);
    await untilTrue('synced', () => site.group.isSynced);
    expect([...seen, site.cache.queueLength]).toEqual([3000, 0]);
  });

  it('tries a source that is down again, with one line for each change of what is told', async () => {
    const down = new NotFoundError('Cannot read x: no such file or directory');
    const other = new NotFoundError('Cannot read x: half of it');
    const source = new Failing(down, down, other);
    await using site = new LoopSite({ sources: [source] });
    site.start();
    await untilTrue('four attempts', () => source.attempts === 4);
    source.synced();
    await untilTrue('synced', () => site.group.isSynced);
    expect(site.toldOf('source').map(({ condition, reason = '-' }) => `${condition} ${reason}`)).toEqual([
      'lost Cannot read x: no such file or directory',
      'lost Cannot read x: half of it',
      'synced -',
    ]);
    expect(site.group.states).toMatchObject([{ name: 'failing', connected: true }]);
    expect(site.failures).toEqual([]);
  });

  it('ends with what no other attempt would change', async () => {
    const bad = new MalformedError('Cannot use line 1', { code: 'BAD_EVENT' });
    await using site = new LoopSite({ sources: [new Failing(bad)] });
    site.start();
    await untilTrue('failed', () => site.failures.length > 0);
    expect(site.failures).toEqual([bad]);
  });

  it('rejects what is not for this node, and counts it by reason', async () => {
    const source = new FakeSource();
    const node = { ipv4: true, ipv6: false, clusterId: 3 };
    await using site = new LoopSite({ sources: [source], node });
    site.start();
    source.upsert('10.0.0.1', 1);
    source.upsert('fd00::1', 2);
    source.upsert('10.0.0.2@3', 3);
    source.upsert('10.0.0.2@4', 4);
    source.send(metadata('fd00::/64', 'fqdn:a'));
    source.send({ ...metadata('10.9.0.0/24@3', 'fqdn:a') });
    source.send(metadata('10.8.0.0/24', 'k8s:app=shop'));
    source.send(metadata('10.7.0.0/24', 'fqdn:a'));
    source.delete('10.77.0.1');
    source.send({ op: 'delete', key: '10.0.0.1', source: 'k8s' });
    source.send({ op: 'delete', key: '10.0.0.1', source: 'kvstore', expectIdentity: 9 });
    await untilTrue('taken', () => site.group.events === 11);
    const [feed] = site.group.feeds;
    expect(Object.fromEntries(feed?.rejected ?? [])).toEqual({
      family: 2,
      cluster: 2,
      'global-labels': 1,
      'unknown-key': 1,
      'not-owner': 1,
    });
    expect([feed?.rejections, feed?.staleDeletes]).toEqual([7, 1]);
    // What came after the event that nothing can be made of is not held up by it.
    await untilTrue('resolved', () => site.cache.queueLength === 0);
    expect([...site.cache.entries.entries()].map(([key]) => key)).toEqual(['10.0.0.1', '10.0.0.2@4', '10.7.0.0/24']);
    expect(site.toldOf('rejected')[0]).toMatchObject({ reason: 'family', subject: 'fd00::1' });
  });

  it('lets sources wait while the map takes nothing, however often the writer looks, and until the end', async () => {
    const source = new FakeSource();
    await using site = new LoopSite({ sources: [source] });
    site.start();
    const [feed] = site.group.feeds;
    // Without a pin nothing may be written.
    rmSync(site.pin);
    for (let i = 0; i < 40_000; i++) source.upsert(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, 7);
    let waits = 0;
    const wait = (): void => {
      waits++;
      feed?.drained()?.then(() => {
        waits--;
      });
    };
    wait();
    expect(site.follower.writer.pending).toBe(40_000);
    for (let i = 0; i < 3; i++) {
      site.follower.writer.poke();
      await site.follower.writer.flush();
    }
    expect([waits, site.fake.list().length]).toEqual([1, 0]);
    site.kernel.pin(site.pin, site.kernel.createMap({ maxEntries: 50_000 }).fake);
    await untilTrue('written', () => waits === 0);
    await untilTrue('all', () => site.follower.writer.pending === 0);
    expect(feed?.drained()).toBeUndefined();
    rmSync(site.pin);
    for (let i = 0; i < 40_000; i++) source.upsert(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, 8);
    wait();
    await site.group.stop();
    await untilTrue('woken by the end', () => waits === 0);
    expect(site.follower.writer.pending).toBe(40_000);
  });
});
