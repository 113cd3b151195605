import { describe, expect, it } from 'vitest';
import { BPF_MAP_DELETE_ELEM } from '../../../src/lib/bpf/uapi.ts';
import { ToolError } from '../../../src/lib/errors.ts';
import { collectGarbage, type GarbageOptions } from '../../../src/lib/gc/collect-garbage.ts';
import { DEFAULT_LIMIT } from '../../../src/lib/gc/delete-limit.ts';
import { OrphanDesired } from '../../../src/lib/gc/orphan-desired.ts';
import { isOfNode } from '../../../src/lib/gc/protection.ts';
import { SourceDesired } from '../../../src/lib/gc/source-desired.ts';
import { layoutNamed } from '../../../src/lib/ipcache/layout.ts';
import { FakeKernel } from '../../support/fake-kernel.ts';
import { FakeSource } from '../../support/fake-source.ts';
import { entriesOf } from '../../support/map-words.ts';
import { entryBytes, type WordEntry } from '../../support/pinned-ipcache.ts';

const LAYOUT = layoutNamed('v2');
const NOW = Date.UTC(2026, 0, 2);

/** A map with entries, a source that has synced, and what happens between the steps. */
class World {
  readonly kernel = new FakeKernel();
  readonly source = new FakeSource();
  readonly opened = this.kernel.createMap({ maxEntries: 1000 });
  readonly waits: number[] = [];
  readonly backups: string[][] = [];
  onWait: (ms: number) => void = () => {};

  constructor(entries: readonly WordEntry[]) {
    for (const entry of entries) this.put(entry);
    this.source.synced();
  }

  put(entry: WordEntry): void {
    const { key, value } = entryBytes('v2', entry);
    this.opened.fake.store.update(key, value);
  }

  take(prefix: string): void {
    this.opened.fake.store.delete(entryBytes('v2', { prefix, identity: 0 }).key);
  }

  get entries(): string[] {
    return entriesOf(this.opened.fake).sort();
  }

  collect(options: Partial<GarbageOptions> = {}) {
    return collectGarbage({
      map: this.opened.map,
      layout: LAYOUT,
      desired: [new SourceDesired(this.source, { timeoutMs: 20_000 })],
      limit: { percent: 100 },
      collected: [],
      confirmMs: 15_000,
      now: () => NOW,
      dryRun: false,
      wait: async (ms) => {
        this.waits.push(ms);
        this.onWait(ms);
      },
      beforeDelete: async (rows, stale) => {
        this.backups.push(stale.map((row) => rows.entry(row).prefix));
      },
      ...options,
    });
  }

  /** The code of the refusal, and that nothing was deleted for it. */
  async refusal(options: Partial<GarbageOptions> = {}): Promise<string> {
    const before = this.entries;
    const error = await this.collect(options).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(this.entries).toEqual(before);
    if (error instanceof ToolError) return `${error.exitCode} ${error.code}`;
    throw error ?? new Error('it was not refused');
  }
}

function pods(count: number, from = 0): WordEntry[] {
  return Array.from({ length: count }, (_, i) => ({
    prefix: `10.0.${(i + from) >> 8}.${(i + from) & 255}/32`,
    identity: 1000 + i,
  }));
}

function worldWith(present: readonly WordEntry[], wanted: readonly WordEntry[] = present): World {
  const world = new World(present);
  for (const { prefix, identity } of wanted) world.source.upsert(prefix, identity);
  return world;
}

describe('collectGarbage()', () => {
  it('op 37: 20 of 100 go, 40 of 100 are too many, an empty desired state takes nothing', async () => {
    const some = worldWith(pods(100), pods(80));
    const { stale } = await some.collect({ limit: DEFAULT_LIMIT });
    expect(stale.filter(({ outcome }) => outcome === 'deleted')).toHaveLength(20);
    expect(some.entries).toHaveLength(80);
    expect(some.backups[0]).toHaveLength(20);
    expect(some.waits).toEqual([15_000]);
    expect(some.source.readings).toBe(3);

    const many = worldWith(pods(100), pods(60));
    expect(await many.refusal({ limit: DEFAULT_LIMIT })).toBe('13 TOO_MANY');
    expect(await worldWith(pods(100), []).refusal()).toBe('13 SOURCE_EMPTY');
  });

  it('a source that has not synced, or breaks off at the second reading, takes nothing', async () => {
    const lost = worldWith(pods(10), pods(9));
    lost.source.lost('connection refused');
    expect(await lost.refusal()).toBe('8 SOURCE_NOT_SYNCED');
    const later = worldWith(pods(10), pods(9));
    later.onWait = () => later.source.lost('connection refused');
    expect(await later.refusal()).toBe('8 SOURCE_NOT_SYNCED');
    expect(later.backups).toEqual([]);
  });

  it('a source that breaks off before the third reading: everything comes back', async () => {
    const world = worldWith(pods(10), pods(9));
    world.source.beforeRead = (reading) => {
      if (reading === 2) world.source.lost('connection refused');
    };
    expect(await world.refusal()).toBe('8 SOURCE_NOT_SYNCED');
    expect(world.backups).toHaveLength(1);
    const emptied = worldWith(pods(10), pods(9));
    emptied.source.beforeRead = (reading) => {
      if (reading === 2) for (const { prefix } of pods(9)) emptied.source.delete(prefix);
    };
    expect(await emptied.refusal()).toBe('13 SOURCE_EMPTY');
  });

  it('a share of each scope and family is limited, too', async () => {
    const locals = Array.from({ length: 4 }, (_, i) => ({ prefix: `192.0.${i}.0/24`, identity: 16_777_217 + i }));
    const world = worldWith([...pods(100), ...locals], [...pods(100), ...locals.slice(1)]);
    expect(await world.refusal({ limit: DEFAULT_LIMIT })).toBe('13 TOO_MANY_OF_KIND');
    await world.collect({ limit: { percent: 25 } });
    expect(world.entries).toHaveLength(103);
  });

  it('what went within the last hour counts, what went before does not', async () => {
    const world = worldWith(pods(85), pods(80));
    const collected = (minutes: number) => [
      { time: new Date(NOW - minutes * 60_000).toISOString(), family: 'ipv4', scope: 'global', deleted: 17 } as const,
    ];
    expect(await world.refusal({ limit: DEFAULT_LIMIT, collected: collected(59) })).toBe('13 TOO_MANY');
    expect(await world.refusal({ limit: { count: 21 }, collected: collected(59) })).toBe('13 TOO_MANY');
    await world.collect({ limit: DEFAULT_LIMIT, collected: collected(61) });
    expect(world.entries).toHaveLength(80);
  });

  it('op 33: ingress, this host and /0 are never collected', async () => {
    const kept: WordEntry[] = [
      { prefix: '10.244.2.5/32', identity: 8 },
      { prefix: 'fd00::5/128', identity: 8 },
      { prefix: '192.0.2.1/32', identity: 1 },
      { prefix: '0.0.0.0/0', identity: 2 },
      { prefix: '::/0', identity: 2 },
    ];
    const world = worldWith([...kept, ...pods(3)], pods(2));
    for (const family of ['ipv4', 'ipv6'] as const) world.source.speakFor('reserved', family);
    const garbage = await world.collect();
    expect(world.entries).toHaveLength(kept.length + 2);
    expect(garbage.kept.map(({ why }) => why).sort()).toEqual([
      'default-route',
      'default-route',
      'host',
      'ingress',
      'ingress',
    ]);
  });

  it('kinds that the source has never shown, and other clusters, are kept', async () => {
    const present: WordEntry[] = [
      ...pods(3),
      { prefix: '192.0.2.0/24', identity: 16_777_217 },
      { prefix: 'fd00::1/128', identity: 1001 },
      { prefix: '10.9.0.1/32@2', identity: 1001 },
      { prefix: '192.0.2.7/32', identity: 6 },
    ];
    const world = worldWith(present, pods(2));
    const garbage = await world.collect();
    expect(garbage.stale).toHaveLength(1);
    expect(garbage.kept.map(({ row, why }) => `${garbage.rows.entry(row).prefix} ${why}`).sort()).toEqual([
      '10.9.0.1/32@2 other-cluster',
      '192.0.2.0/24 other-scope',
      '192.0.2.7/32 other-scope',
      'fd00::1/128 other-scope',
    ]);
  });

  it('dead and catch-all keys are no garbage, and an entry with host bits is the prefix it means', async () => {
    const world = worldWith(pods(2), pods(2));
    const { key, value } = entryBytes('v2', { prefix: '10.8.0.0/16', identity: 1001 });
    key[11] = 9;
    world.opened.fake.store.update(key, value);
    world.source.upsert('10.8.0.0/16', 1001);
    const dead = entryBytes('v2', { prefix: '10.7.0.0/16', identity: 1001 });
    dead.key[6] = 1;
    world.opened.fake.store.update(dead.key, dead.value);
    const garbage = await world.collect();
    expect(garbage.stale).toEqual([]);
    expect(garbage.kept.map(({ why }) => why)).toEqual(['not-a-prefix']);
  });

  it('op 38: a node that is gone takes its pods and its own address with it, nothing else', async () => {
    const world = new World([
      { prefix: '10.4.0.1/32', identity: 1001, tunnel: '10.164.0.29' },
      { prefix: '10.4.0.2/32', identity: 1002, tunnel: '10.164.0.29' },
      { prefix: '10.164.0.29/32', identity: 6 },
      { prefix: '10.164.0.0/24', identity: 6 },
      { prefix: '10.5.0.1/32', identity: 1001, tunnel: '10.164.0.30' },
      { prefix: '10.9.0.1/32@2', identity: 1001, tunnel: '10.164.0.29' },
      { prefix: '0.0.0.0/0', identity: 2, tunnel: '10.164.0.29' },
    ]);
    const nodes = new Set(['10.164.0.29']);
    const { kept } = await world.collect({ desired: [], isSelected: (rows, row) => isOfNode(rows, row, nodes) });
    expect(world.entries).toEqual(['0.0.0.0/0=2', '10.164.0.0/24=6', '10.5.0.1/32=1001', '10.9.0.1/32@2=1001']);
    expect(kept.map(({ why }) => why).sort()).toEqual(['default-route', 'other-cluster']);
    expect(world.waits).toEqual([]);
  });

  it('op 39: a local number in no checkpoint is an orphan after two readings, a global one never', async () => {
    const world = new World([
      { prefix: '192.0.2.0/24', identity: 16_777_217 },
      { prefix: '192.0.3.0/24', identity: 16_777_218 },
      { prefix: '192.0.4.0/24', identity: 16_777_219 },
      { prefix: '10.0.0.1/32', identity: 1234 },
    ]);
    let reading = 0;
    // The checkpoint is written some seconds after the number was given out.
    const known = new OrphanDesired(async () => new Set(reading++ === 0 ? [16_777_217] : [16_777_217, 16_777_219]));
    await world.collect({ desired: [known] });
    expect(world.entries).toEqual(['10.0.0.1/32=1234', '192.0.2.0/24=16777217', '192.0.4.0/24=16777219']);
    expect(world.waits).toEqual([15_000]);
    const nothing = new OrphanDesired(async () => new Set());
    expect(await world.refusal({ desired: [nothing] })).toBe('13 SOURCE_EMPTY');
  });

  it('op 39b: what is added again between the last reading and the delete is put back as raced', async () => {
    const world = worldWith(pods(10), pods(9));
    let deletes = 0;
    world.kernel.onCall = ({ cmd, phase }) => {
      if (cmd !== BPF_MAP_DELETE_ELEM || phase !== 'before' || deletes++ > 0) return;
      // Deleted and added by the agent, with the same number: not one byte tells.
      world.take('10.0.0.9/32');
      world.put({ prefix: '10.0.0.9/32', identity: 1009 });
      world.source.upsert('10.0.0.9/32', 1009);
    };
    const { stale } = await world.collect();
    expect(stale.map(({ outcome }) => outcome)).toEqual(['raced']);
    expect(world.entries).toEqual(
      pods(10)
        .map(({ prefix, identity }) => `${prefix}=${identity}`)
        .sort(),
    );
  });

  it('op 39b: with another number it comes back with that one', async () => {
    const world = worldWith(pods(10), pods(9));
    let deletes = 0;
    world.kernel.onCall = ({ cmd, phase }) => {
      if (cmd !== BPF_MAP_DELETE_ELEM || phase !== 'before' || deletes++ > 0) return;
      world.put({ prefix: '10.0.0.9/32', identity: 4321 });
      world.source.upsert('10.0.0.9/32', 4321);
      world.source.upsert('10.0.0.9/32', 77, { source: 'generated' });
    };
    await world.collect();
    expect(world.entries).toContain('10.0.0.9/32=4321');
  });

  it('what is wanted at the second reading, or changed since the walk, stays', async () => {
    const world = worldWith(pods(10), pods(7));
    world.onWait = () => {
      world.source.upsert('10.0.0.7/32', 1007);
      world.put({ prefix: '10.0.0.8/32', identity: 4321 });
    };
    const { stale, withdrawn } = await world.collect();
    expect(stale).toHaveLength(1);
    expect(withdrawn).toBe(2);
    expect(world.entries).toHaveLength(9);
    expect(world.entries).toContain('10.0.0.8/32=4321');
  });

  it('an entry that changes right before its delete stays', async () => {
    const world = worldWith(pods(10), pods(9));
    const { beforeDelete } = { beforeDelete: async () => world.put({ prefix: '10.0.0.9/32', identity: 4321 }) };
    const { stale } = await world.collect({ beforeDelete });
    expect(stale.map(({ outcome }) => outcome)).toEqual(['changed']);
    expect(world.entries).toContain('10.0.0.9/32=4321');
  });

  it('an absent entry under an equal wider one is not taken for it', async () => {
    const world = worldWith(
      [...pods(9), { prefix: '10.0.0.0/16', identity: 1005 }, { prefix: '10.0.3.3/32', identity: 1005 }],
      [...pods(9), { prefix: '10.0.0.0/16', identity: 1005 }],
    );
    world.onWait = () => world.take('10.0.3.3/32');
    const { stale } = await world.collect();
    expect(stale).toEqual([]);
    expect(world.entries).toContain('10.0.0.0/16=1005');
  });

  it('a walk that does not cover the map deletes nothing', async () => {
    const world = worldWith(pods(10), pods(9));
    const abort = new AbortController();
    abort.abort();
    expect(await world.refusal({ signal: abort.signal })).toBe('7 WALK_INCOMPLETE');
  });

  it('a signal between two deletes leaves the rest, and the last look is taken all the same; a rate spreads them', async () => {
    const world = worldWith(pods(100), pods(10));
    const abort = new AbortController();
    let waits = 0;
    world.onWait = (ms) => {
      if (ms !== 15_000 && ++waits === 3) abort.abort();
    };
    const source = new SourceDesired(world.source, { signal: abort.signal, timeoutMs: 20_000 });
    const { stale } = await world.collect({ signal: abort.signal, rate: 100, desired: [source] });
    expect(world.waits.slice(0, 2)).toEqual([15_000, 100]);
    expect(stale.filter(({ outcome }) => outcome === 'deleted')).toHaveLength(30);
    expect(stale.filter(({ outcome }) => outcome === 'left')).toHaveLength(60);
    expect(world.entries).toHaveLength(70);
  });

  it('a dry run reads twice and deletes nothing', async () => {
    const world = worldWith(pods(10), pods(9));
    const { stale } = await world.collect({ dryRun: true });
    expect(stale.map(({ outcome }) => outcome)).toEqual(['planned']);
    expect(world.entries).toHaveLength(10);
    expect(world.backups).toEqual([]);
  });

  it('deletes nothing when the backup cannot be written', async () => {
    const world = worldWith(pods(10), pods(9));
    const failing = world.collect({
      beforeDelete: async () => {
        throw new Error('no space left');
      },
    });
    await expect(failing).rejects.toThrow('no space left');
    expect(world.entries).toHaveLength(10);
  });
});
