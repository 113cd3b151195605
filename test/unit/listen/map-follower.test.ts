import { renameSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ENOMEM } from '../../../src/lib/bpf/errno.ts';
import { BPF_MAP_UPDATE_BATCH, BPF_MAP_UPDATE_ELEM } from '../../../src/lib/bpf/uapi.ts';
import { RefusedError } from '../../../src/lib/errors.ts';
import { LoopSite, untilTrue } from '../../support/loop-site.ts';
import { entriesOf } from '../../support/map-words.ts';

describe('MapFollower', () => {
  it('op 46: fills another map that is under the pin, and leaves the old one alone', async () => {
    await using site = new LoopSite();
    const [source] = site.sources;
    site.start();
    source?.upsert('10.0.0.1', 1);
    await untilTrue('written', () => site.fake.store.size === 1);
    const before = site.fake.list();
    const { fake } = site.kernel.createMap({ maxEntries: 10 });
    site.kernel.pin(site.pin, fake);
    source?.upsert('10.0.0.2', 2);
    await untilTrue('replayed', () => fake.store.size === 2);
    expect(site.fake.list()).toEqual(before);
    expect(entriesOf(fake)).toEqual(['10.0.0.1/32=1', '10.0.0.2/32=2']);
    expect([site.follower.guard.replacements, site.toldOf('map-replaced')]).toMatchObject([1, [{ mapId: fake.id }]]);
  });

  it('op 46: ends with the refusal when the other map has another writer, or another shape', async () => {
    const refusal = new RefusedError('Cannot write: somebody else does');
    for (const spec of [{ maxEntries: 10 }, { maxEntries: 10, valueBytes: 12 }]) {
      await using site = new LoopSite({ refusal: async () => refusal });
      site.start();
      const { fake } = site.kernel.createMap(spec);
      site.kernel.pin(site.pin, fake);
      site.sources[0]?.upsert('10.0.0.1', 1);
      await untilTrue('failed', () => site.failures.length > 0);
      expect(site.failures).toEqual([spec.valueBytes === 12 ? expect.any(RefusedError) : refusal]);
      expect([site.follower.hasFailed, fake.store.size, site.fake.store.size]).toEqual([true, 0, 0]);
      expect(site.follower.pending()).toMatchObject([{ op: 'upsert', prefix: '10.0.0.1/32', identity: 1 }]);
    }
  });

  it('says once that the pin is gone, and once that it is there again', async () => {
    await using site = new LoopSite();
    const [source] = site.sources;
    site.start();
    const away = `${site.pin}-away`;
    renameSync(site.pin, away);
    await untilTrue('gone', () => site.toldOf('pin').length === 1);
    source?.upsert('10.0.0.1', 1);
    await untilTrue('pending', () => site.follower.pending().length === 1);
    expect(site.fake.store.size).toBe(0);
    renameSync(away, site.pin);
    await untilTrue('written', () => site.fake.store.size === 1);
    await untilTrue('back', () => site.toldOf('pin').length === 2);
    expect(site.toldOf('pin')).toMatchObject([{ isThere: false }, { isThere: true }]);
  });

  it('says in the words of a checkpoint what the map has yet to take: the newest of each prefix', async () => {
    await using site = new LoopSite();
    const [source] = site.sources;
    site.start();
    source?.upsert('10.0.0.9', 9);
    await untilTrue('written', () => site.fake.store.size === 1);
    const { writer } = site.follower;
    site.kernel.fail(BPF_MAP_UPDATE_BATCH, ENOMEM, { times: 1000 }).fail(BPF_MAP_UPDATE_ELEM, ENOMEM, { times: 1000 });
    source?.upsert('10.0.0.1', 1, { hostIP: '192.0.2.1', encryptKey: 3 });
    await untilTrue('parked', () => site.follower.writer.stall !== undefined);
    source?.upsert('10.0.0.1', 2);
    await untilTrue(
      'newer',
      () => writer.stall === 'the kernel answered ENOMEM' && site.follower.pending()[0]?.identity === 2,
    );
    expect(site.follower.pending()).toEqual([
      { op: 'upsert', prefix: '10.0.0.1/32', identity: 2, encryptKey: 0, flags: [], errno: 'ENOMEM' },
    ]);
    rmSync(site.pin);
    source?.delete('10.0.0.9');
    await untilTrue('two', () => site.follower.pending().length === 2);
    expect(site.follower.pending()[1]).toMatchObject({ op: 'delete', prefix: '10.0.0.9/32' });
  });

  it('does not write at first what the map was read to have, and writes it when the map is another', async () => {
    await using site = new LoopSite();
    for (const [prefix, identity] of [['10.0.0.1/32', 7] as const, ['10.0.0.2/32', 8] as const]) {
      site.cache.upsert(prefix, { identity, source: 'restored' });
    }
    await site.follower.start((prefix, { identity }) => prefix === '10.0.0.1/32' && identity === 7);
    await site.follower.writer.flush();
    expect(entriesOf(site.fake)).toEqual(['10.0.0.2/32=8']);
    site.cache.upsert('10.0.0.1/32', { identity: 9, source: 'kvstore' });
    await untilTrue('changed', () => site.fake.store.size === 2);
    expect(entriesOf(site.fake)).toEqual(['10.0.0.1/32=9', '10.0.0.2/32=8']);
    const { fake } = site.kernel.createMap({ maxEntries: 10 });
    site.kernel.pin(site.pin, fake);
    site.follower.writer.poke();
    await untilTrue('replayed', () => fake.store.size === 2);
  });

  it('times what it writes, and tells problems with their prefix', async () => {
    await using site = new LoopSite();
    site.start();
    site.sources[0]?.upsert('10.0.0.1', 0);
    site.sources[0]?.upsert('10.0.0.2', 7);
    await untilTrue('written', () => site.fake.store.size === 1);
    expect(site.latencies).toHaveLength(1);
    expect(site.toldOf('write-problem')).toMatchObject([{ problem: 'zero-identity', prefix: '10.0.0.1/32' }]);
  });
});
