import { describe, expect, it } from 'vitest';
import { EBUSY, EINVAL, ENOMEM, ENOSPC, ENOTSUPP } from '../../../src/lib/bpf/errno.ts';
import { BPF_MAP_DELETE_ELEM, BPF_MAP_UPDATE_BATCH, BPF_MAP_UPDATE_ELEM } from '../../../src/lib/bpf/uapi.ts';
import { MapWriter, type MapWriterOptions } from '../../../src/lib/datapath/map-writer.ts';
import type { WriteProblem } from '../../../src/lib/datapath/write-problem.ts';
import { layoutNamed } from '../../../src/lib/ipcache/layout.ts';
import { FakeKernel } from '../../support/fake-kernel.ts';
import type { FakeMap, FakeMapSpec } from '../../support/fake-map.ts';
import { entriesOf } from '../../support/map-words.ts';
import { entryBytes, type WordEntry } from '../../support/pinned-ipcache.ts';

const V2 = layoutNamed('v2');

/** Timers that fire when told. */
class HandTimers {
  readonly delays: number[] = [];
  #run: (() => void) | undefined;

  setTimeout(run: () => void, ms: number): unknown {
    this.delays.push(ms);
    this.#run = run;
    return run;
  }

  clearTimeout(timer: unknown): void {
    if (this.#run === timer) this.#run = undefined;
  }

  get isArmed(): boolean {
    return this.#run !== undefined;
  }

  fire(): void {
    const run = this.#run;
    this.#run = undefined;
    run?.();
  }
}

function newWriter(
  spec: Partial<FakeMapSpec> = {},
  options: Partial<MapWriterOptions> = {},
  kernel = new FakeKernel(),
) {
  const { map, fake } = kernel.createMap(spec);
  const timers = new HandTimers();
  const problems: WriteProblem[] = [];
  const writer = new MapWriter({
    map,
    layout: V2,
    timers,
    random: () => 0.5,
    onProblem: (problem) => problems.push(problem),
    ...options,
  });
  const upsert = (entry: WordEntry): void => {
    const { key, value } = entryBytes('v2', entry);
    writer.upsert(key, value);
  };
  const remove = (prefix: string, identity: number): void => {
    writer.remove(entryBytes('v2', { prefix, identity }).key, identity);
  };
  return { kernel, map, fake, timers, problems, writer, upsert, remove };
}

/** The kernel's update calls in their order, as prefixes. */
function watchUpdates(kernel: FakeKernel, fake: FakeMap): string[] {
  const seen: string[] = [];
  let before = new Set(fake.list());
  kernel.onCall = ({ phase }) => {
    if (phase !== 'after') return;
    for (const line of fake.list()) if (!before.has(line)) seen.push(line.split(' ')[0] ?? '');
    before = new Set(fake.list());
  };
  return seen;
}

describe('MapWriter', () => {
  it('op 40: a late delete that expects another identity is dropped and counted', async () => {
    const { fake, writer, upsert, remove } = newWriter();
    upsert({ prefix: '10.0.0.1/32', identity: 1234 });
    await writer.flush();
    upsert({ prefix: '10.0.0.1/32', identity: 4321 });
    await writer.flush();
    remove('10.0.0.1/32', 1234);
    await writer.flush();
    expect(entriesOf(fake)).toEqual(['10.0.0.1/32=4321']);
    expect(writer.counts).toMatchObject({ staleDeletes: 1, deleted: 0, written: 2 });
  });

  it('op 40: the same when none of the upserts has reached the map yet', async () => {
    const { fake, writer, upsert, remove } = newWriter();
    upsert({ prefix: '10.0.0.1/32', identity: 1234 });
    upsert({ prefix: '10.0.0.1/32', identity: 4321 });
    remove('10.0.0.1/32', 1234);
    await writer.flush();
    expect(entriesOf(fake)).toEqual(['10.0.0.1/32=4321']);
    expect(writer.counts).toMatchObject({ staleDeletes: 1, coalesced: 1, written: 1 });
  });

  it('a delete of an upsert that was never written deletes what is older in the map', async () => {
    const { fake, writer, upsert, remove } = newWriter();
    upsert({ prefix: '10.0.0.1/32', identity: 7 });
    await writer.flush();
    upsert({ prefix: '10.0.0.1/32', identity: 1234 });
    remove('10.0.0.1/32', 1234);
    await writer.flush();
    expect(entriesOf(fake)).toEqual([]);
    expect(writer.counts).toMatchObject({ staleDeletes: 0, deleted: 1 });
  });

  it('a delete of what is gone already is no stale one, whatever the wider entry has', async () => {
    const { fake, writer, upsert, remove } = newWriter();
    upsert({ prefix: '10.0.0.0/8', identity: 2 });
    await writer.flush();
    remove('10.0.0.1/32', 1234);
    remove('10.0.0.2/32', 2);
    await writer.flush();
    expect(entriesOf(fake)).toEqual(['10.0.0.0/8=2']);
    expect(writer.counts).toMatchObject({ staleDeletes: 0, absent: 2, deleted: 0 });
  });

  it('op 41: in a full map one waits, says so, and is written by itself when there is room', async () => {
    const { fake, writer, upsert, remove, timers } = newWriter({ maxEntries: 4 });
    for (let i = 1; i <= 5; i++) upsert({ prefix: `10.0.0.${i}/32`, identity: 1000 + i });
    await writer.flush();
    expect(fake.store.size).toBe(4);
    expect(writer.pending).toBe(1);
    expect(writer.stall).toBe('map full 4/4');
    expect(timers.isArmed).toBe(true);
    remove('10.0.0.2/32', 1002);
    await writer.flush();
    expect(entriesOf(fake).sort()).toEqual([
      '10.0.0.1/32=1001',
      '10.0.0.3/32=1003',
      '10.0.0.4/32=1004',
      '10.0.0.5/32=1005',
    ]);
    expect(writer.pending).toBe(0);
    expect(writer.stall).toBeUndefined();
    expect(timers.isArmed).toBe(false);
  });

  it('op 41: room that somebody else made is found by a retry', async () => {
    const { fake, writer, upsert, timers } = newWriter({ maxEntries: 1 });
    upsert({ prefix: '10.0.0.1/32', identity: 1001 });
    await writer.flush();
    upsert({ prefix: '10.0.0.2/32', identity: 1002 });
    await writer.flush();
    fake.store.delete(entryBytes('v2', { prefix: '10.0.0.1/32', identity: 0 }).key);
    timers.fire();
    await writer.flush();
    expect(entriesOf(fake)).toEqual(['10.0.0.2/32=1002']);
  });

  it('deletes first when the map is full, upserts first when it is not', async () => {
    const { kernel, fake, writer, upsert, remove } = newWriter({ maxEntries: 2 });
    upsert({ prefix: '10.0.0.1/32', identity: 1001 });
    await writer.flush();
    let most = 0;
    kernel.onCall = () => {
      most = Math.max(most, fake.store.size);
    };
    remove('10.0.0.1/32', 1001);
    upsert({ prefix: '10.0.0.2/32', identity: 1002 });
    await writer.flush();
    expect(most).toBe(2);
    upsert({ prefix: '10.0.0.3/32', identity: 1003 });
    await writer.flush();
    remove('10.0.0.2/32', 1002);
    upsert({ prefix: '10.0.0.4/32', identity: 1004 });
    await writer.flush();
    expect(entriesOf(fake)).toEqual(['10.0.0.3/32=1003', '10.0.0.4/32=1004']);
    expect(writer.pending).toBe(0);
  });

  it('op 42: ENOMEM twice, then success, with a longer wait each time', async () => {
    const { kernel, fake, writer, upsert, timers } = newWriter();
    kernel.fail(BPF_MAP_UPDATE_ELEM, ENOMEM, { times: 2 });
    upsert({ prefix: '10.0.0.1/32', identity: 1234 });
    await writer.flush();
    expect({ pending: writer.pending, stall: writer.stall }).toEqual({
      pending: 1,
      stall: 'the kernel answered ENOMEM',
    });
    timers.fire();
    await writer.flush();
    expect(writer.pending).toBe(1);
    timers.fire();
    await writer.flush();
    expect(entriesOf(fake)).toEqual(['10.0.0.1/32=1234']);
    expect(writer.counts).toMatchObject({ retried: 2, failed: 0, written: 1 });
    const [first = 0, second = 0] = timers.delays;
    expect(second).toBeGreaterThan(first);
    expect(timers.isArmed).toBe(false);
  });

  it('op 42: after ENOMEM only the newer value is tried', async () => {
    const { kernel, fake, writer, upsert, timers } = newWriter();
    kernel.fail(BPF_MAP_UPDATE_ELEM, ENOMEM);
    upsert({ prefix: '10.0.0.1/32', identity: 1234 });
    await writer.flush();
    const tried = watchUpdates(kernel, fake);
    upsert({ prefix: '10.0.0.1/32', identity: 4321 });
    await writer.flush();
    timers.fire();
    await writer.flush();
    expect(entriesOf(fake)).toEqual(['10.0.0.1/32=4321']);
    expect(tried).toHaveLength(1);
    expect(writer.counts.written).toBe(1);
  });

  it.each([
    ['EBUSY', EBUSY],
    ['ENOSPC', ENOSPC],
  ])('op 42: a delete that fails with %s is tried again', async (_, errno) => {
    const { kernel, fake, writer, upsert, remove, timers } = newWriter();
    upsert({ prefix: '10.0.0.1/32', identity: 1234 });
    await writer.flush();
    kernel.fail(BPF_MAP_DELETE_ELEM, errno);
    remove('10.0.0.1/32', 1234);
    await writer.flush();
    expect(writer.pending).toBe(1);
    timers.fire();
    await writer.flush();
    expect(entriesOf(fake)).toEqual([]);
  });

  it('op 43: a batch of 7 that breaks off after 1 arrives whole, and it is told', async () => {
    const { kernel, fake, writer, upsert, problems } = newWriter();
    kernel.fail(BPF_MAP_UPDATE_BATCH, EBUSY, { after: 1 });
    for (let i = 1; i <= 7; i++) upsert({ prefix: `10.0.0.${i}/32`, identity: 1000 + i });
    await writer.flush();
    expect(fake.store.size).toBe(7);
    expect(writer.counts).toMatchObject({ fallbacks: 1, written: 7 });
    expect(problems.map(({ kind }) => kind)).toEqual(['fallback']);
  });

  it.each([
    ['EINVAL', EINVAL],
    ['ENOTSUPP', ENOTSUPP],
  ])('op 51: a kernel without batches (%s) is asked for one only once', async (_, errno) => {
    const { kernel, fake, writer, upsert } = newWriter();
    kernel.missing.set(BPF_MAP_UPDATE_BATCH, errno);
    for (let round = 0; round < 2; round++) {
      for (let i = 1; i <= 9; i++) upsert({ prefix: `10.0.${round}.${i}/32`, identity: 1000 + i });
      await writer.flush();
    }
    expect(fake.store.size).toBe(18);
    expect(kernel.calls.get(BPF_MAP_UPDATE_BATCH)).toBe(1);
  });

  it('op 44: another encrypt key is written, an equal value that waits already is counted', async () => {
    const { fake, writer, upsert } = newWriter();
    const entry = { prefix: '10.0.0.1/32', identity: 1234, tunnel: '192.0.2.1' };
    upsert({ ...entry, encryptKey: 3 });
    await writer.flush();
    upsert({ ...entry, encryptKey: 4 });
    upsert({ ...entry, encryptKey: 4 });
    await writer.flush();
    expect(writer.counts).toMatchObject({ written: 2, equal: 1 });
    expect(fake.list()[0]?.slice(-4)).toBe('0402');
  });

  it('writes narrower prefixes before wider ones', async () => {
    const { kernel, fake, writer, upsert } = newWriter();
    kernel.missing.set(BPF_MAP_UPDATE_BATCH, ENOTSUPP);
    const seen = watchUpdates(kernel, fake);
    for (const prefix of ['10.0.0.0/8', '0.0.0.0/0', '10.1.2.3/32', 'fd00::/64', '10.1.0.0/16', 'fd00::1/128']) {
      upsert({ prefix, identity: 5 });
    }
    await writer.flush();
    expect(seen.map((key) => Number.parseInt(key.slice(0, 2), 16))).toEqual([160, 96, 64, 48, 40, 32]);
  });

  it('a new wider prefix waits for the narrower one inside it, one in the map does not', async () => {
    const { kernel, fake, writer, upsert, timers } = newWriter();
    upsert({ prefix: '10.0.0.0/8', identity: 2 });
    await writer.flush();
    kernel.fail(BPF_MAP_UPDATE_ELEM, ENOMEM);
    upsert({ prefix: '10.1.2.3/32', identity: 1234 });
    await writer.flush();
    upsert({ prefix: '10.1.0.0/16', identity: 5 });
    upsert({ prefix: '10.2.0.0/16', identity: 6 });
    upsert({ prefix: '10.0.0.0/8', identity: 3 });
    await writer.flush();
    expect(entriesOf(fake).sort()).toEqual(['10.0.0.0/8=3', '10.2.0.0/16=6']);
    timers.fire();
    await writer.flush();
    expect(entriesOf(fake).sort()).toEqual(['10.0.0.0/8=3', '10.1.0.0/16=5', '10.1.2.3/32=1234', '10.2.0.0/16=6']);
  });

  it('never writes identity 0', async () => {
    const { fake, writer, upsert, problems } = newWriter();
    upsert({ prefix: '10.0.0.1/32', identity: 0 });
    await writer.flush();
    expect(fake.store.size).toBe(0);
    expect(writer.counts.zeroIdentities).toBe(1);
    expect(problems[0]?.kind).toBe('zero-identity');
  });

  it('a write that the kernel refuses for good is counted and not tried again', async () => {
    const { kernel, writer, upsert, timers, problems } = newWriter();
    kernel.fail(BPF_MAP_UPDATE_ELEM, EINVAL);
    upsert({ prefix: '10.0.0.1/32', identity: 5 });
    await writer.flush();
    expect(writer.counts.failed).toBe(1);
    expect(problems[0]).toMatchObject({ kind: 'failed' });
    expect({ pending: writer.pending, armed: timers.isArmed }).toEqual({ pending: 0, armed: false });
  });

  it('asks for a replay when more failed than it remembers', async () => {
    let replays = 0;
    const { writer, upsert, remove, fake } = newWriter({ maxEntries: 2 }, { mostParked: 2, replay: () => replays++ });
    for (let i = 1; i <= 6; i++) upsert({ prefix: `10.0.0.${i}/32`, identity: 1000 + i });
    await writer.flush();
    expect(writer.pending).toBe(2);
    remove('10.0.0.1/32', 1001);
    remove('10.0.0.2/32', 1002);
    await writer.flush();
    expect({ replays, size: fake.store.size, pending: writer.pending }).toEqual({ replays: 1, size: 2, pending: 0 });
  });

  it('op 53: a full map of an old kernel takes no change in place; only with a gap does it', async () => {
    for (const allowGap of [false, true]) {
      const kernel = new FakeKernel();
      const { fake, writer, upsert, problems } = newWriter({ maxEntries: 2 }, { allowGap }, kernel);
      upsert({ prefix: '10.0.0.1/32', identity: 1001 });
      upsert({ prefix: '10.0.0.2/32', identity: 1002 });
      await writer.flush();
      kernel.fail(BPF_MAP_UPDATE_ELEM, ENOSPC);
      upsert({ prefix: '10.0.0.1/32', identity: 4321 });
      await writer.flush();
      expect(problems[0]).toMatchObject({ kind: 'in-place-refused' });
      const wanted = allowGap ? '10.0.0.1/32=4321' : '10.0.0.1/32=1001';
      expect(entriesOf(fake)).toEqual([wanted, '10.0.0.2/32=1002']);
      expect({ gaps: writer.counts.gaps, pending: writer.pending }).toEqual(
        allowGap ? { gaps: 1, pending: 0 } : { gaps: 0, pending: 1 },
      );
    }
  });

  it('tells the outcome of every event, once it is known, and again when a retry succeeds', async () => {
    const told: string[] = [];
    const onOutcome = ({ prefix }: { prefix: string }, applied: boolean) => told.push(`${prefix} ${applied}`);
    const { kernel, writer, timers } = newWriter({}, { onOutcome });
    const event = (prefix: string, identity: number) => {
      const entry = { identity, source: 'k8s', hostIP: undefined, encryptKey: 0, endpointFlags: 0, pod: undefined };
      const { key, value } = entryBytes('v2', { prefix, identity });
      writer.upsert(key, value, { event: () => ({ kind: 'upsert', prefix, entry, old: undefined }) });
    };
    event('10.0.0.1/32', 5);
    expect(told).toEqual([]);
    await writer.flush();
    expect(told).toEqual(['10.0.0.1/32 true']);
    kernel.fail(BPF_MAP_UPDATE_ELEM, ENOMEM);
    event('10.0.0.2/32', 5);
    await writer.flush();
    timers.fire();
    await writer.flush();
    event('10.0.0.3/32', 0);
    expect(told.slice(1)).toEqual(['10.0.0.2/32 false', '10.0.0.2/32 true', '10.0.0.3/32 false']);
  });

  it('writes nothing while it is held back, and ends with what ended it', async () => {
    let answer: boolean | Error = false;
    const failures: unknown[] = [];
    const { fake, writer, upsert, timers } = newWriter(
      {},
      {
        beforeWrite: async () => {
          if (answer instanceof Error) throw answer;
          return answer;
        },
        onFailure: (error) => failures.push(error),
      },
    );
    upsert({ prefix: '10.0.0.1/32', identity: 5 });
    await writer.flush();
    expect({ size: fake.store.size, pending: writer.pending }).toEqual({ size: 0, pending: 1 });
    answer = true;
    timers.fire();
    await writer.flush();
    expect(fake.store.size).toBe(1);
    answer = new Error('another writer');
    upsert({ prefix: '10.0.0.2/32', identity: 5 });
    await expect(writer.flush()).rejects.toThrow('another writer');
    expect({ size: fake.store.size, failures }).toEqual({ size: 1, failures: [answer] });
  });
});
