import { describe, expect, it } from 'vitest';
import { EAGAIN, EBUSY, EINTR, EINVAL, ENOMEM, ENOSPC, ENOTSUPP, EPERM } from '../../../src/lib/bpf/errno.ts';
import { BPF_MAP_CREATE, BPF_MAP_LOOKUP_BATCH, BPF_MAP_LOOKUP_ELEM } from '../../../src/lib/bpf/uapi.ts';
import { walkMap } from '../../../src/lib/bpf/walk.ts';
import { drain } from '../../support/drain.ts';
import { FakeKernel } from '../../support/fake-kernel.ts';
import type { FakeMap } from '../../support/fake-map.ts';
import { ipKey, value } from '../../support/lpm-keys.ts';

const KINDS = ['since-6.13', 'before-6.13'] as const;

function fill(fake: FakeMap, entries: number): void {
  for (let i = 0; i < entries; i++) {
    const text = i % 7 === 0 ? `10.${(i >> 8) & 255}.${i & 255}.0/24` : `10.${(i >> 8) & 255}.${i & 255}.${i % 11}/32`;
    fake.store.update(ipKey(text), value(i));
  }
}

describe.each(KINDS)('walkMap() on a quiet map of a kernel %s', (kind) => {
  it.each([0, 1, 2, 15, 16, 17, 255, 256, 257, 1000])('emits each of %i entries once, in order', async (entries) => {
    const { map, fake } = new FakeKernel(kind).createMap();
    fill(fake, entries);
    const { lines, result } = await drain(map, { batchEntries: 16 });
    expect(lines).toEqual(fake.list());
    expect(result).toEqual({ complete: true, entries: fake.store.size, restarts: 0 });
  });

  it('reads a small map with one batch and a second one to be sure', async () => {
    const kernel = new FakeKernel(kind);
    const { map, fake } = kernel.createMap();
    await drain(map);
    expect(kernel.calls.get(BPF_MAP_LOOKUP_BATCH)).toBe(1);
    fill(fake, 200);
    await drain(map);
    expect(kernel.calls.get(BPF_MAP_LOOKUP_BATCH)).toBe(3);
    expect(kernel.calls.get(BPF_MAP_CREATE)).toBeUndefined();
  });

  it('walks without the right to make a map', async () => {
    const kernel = new FakeKernel(kind);
    const { map, fake } = kernel.createMap();
    kernel.missing.set(BPF_MAP_CREATE, EPERM);
    fill(fake, 1000);
    expect((await drain(map, { batchEntries: 64 })).lines).toEqual(fake.list());
  });

  it('walks keys of other sizes', async () => {
    const { map, fake } = new FakeKernel(kind).createMap({ keyBytes: 12, valueBytes: 4 });
    for (let i = 0; i < 500; i++) {
      fake.store.update(Uint8Array.from([64, 0, 0, 0, i & 255, i >> 8, 0, 0, i & 1, 6, 0, 80]), value(i, 4));
    }
    const { lines, result } = await drain(map, { batchEntries: 32 });
    expect(lines).toEqual(fake.list());
    expect(result.complete).toBe(true);
  });

  it.each([
    ['EINTR', EINTR],
    ['EAGAIN', EAGAIN],
    ['ENOMEM', ENOMEM],
    ['EBUSY', EBUSY],
    ['ENOSPC', ENOSPC],
  ])('repeats batches that fail with %s for a while', async (_name, errno) => {
    const kernel = new FakeKernel(kind);
    const { map, fake } = kernel.createMap();
    fill(fake, 300);
    kernel.fail(BPF_MAP_LOOKUP_BATCH, errno, { times: 3 });
    const { lines, result } = await drain(map, { batchEntries: 64 });
    expect(lines).toEqual(fake.list());
    expect(result.complete).toBe(true);
  });

  it('throws what the kernel keeps answering', async () => {
    const kernel = new FakeKernel(kind);
    const { map } = kernel.createMap();
    kernel.missing.set(BPF_MAP_LOOKUP_BATCH, ENOMEM);
    await expect(drain(map)).rejects.toMatchObject({ exitCode: 1, operands: { errno: 'ENOMEM' } });
    kernel.missing.set(BPF_MAP_LOOKUP_BATCH, EPERM);
    await expect(drain(map)).rejects.toMatchObject({ exitCode: 5, operands: { errno: 'EPERM' } });
  });

  it('throws what the kernel answers in the middle', async () => {
    const kernel = new FakeKernel(kind);
    const { map, fake } = kernel.createMap();
    fill(fake, 1000);
    const walk = walkMap(map, { batchEntries: 64 });
    expect((await walk.next()).done).toBe(false);
    kernel.missing.set(BPF_MAP_LOOKUP_BATCH, EPERM);
    await expect(walk.next().then(() => walk.next())).rejects.toMatchObject({ exitCode: 5 });
  });

  it('goes on from an interrupted batch that has entries', async () => {
    const kernel = new FakeKernel(kind);
    const { map, fake } = kernel.createMap();
    fill(fake, 1000);
    const gone = new Map<number, Uint8Array>();
    kernel.onCall = ({ cmd, nth, phase, map: { store }, step, key }) => {
      if (cmd !== BPF_MAP_LOOKUP_BATCH || nth % 5 !== 2 || phase !== 'listed' || step !== 20 || !key) return;
      // A listed key without cover that is gone when its value is read: EINTR before 6.13, skipped since.
      if (!gone.has(nth) && store.delete(key) === 0) gone.set(nth, key);
    };
    const { lines, result } = await drain(map, { batchEntries: 64 });
    expect(gone.size).toBeGreaterThan(2);
    expect(result.complete).toBe(true);
    expect(lines).toEqual(fake.list());
  });

  it.each([
    ['EINVAL', EINVAL],
    ['524', ENOTSUPP],
  ])('op 51 lists singly where batches answer %s', async (_name, errno) => {
    const kernel = new FakeKernel(kind);
    const { map, fake } = kernel.createMap();
    kernel.missing.set(BPF_MAP_LOOKUP_BATCH, errno);
    fill(fake, 1000);
    const { lines, result } = await drain(map, { batchEntries: 300 });
    expect(lines).toEqual(fake.list());
    expect(result.complete).toBe(true);
    expect(kernel.calls.get(BPF_MAP_LOOKUP_ELEM)).toBeGreaterThanOrEqual(fake.store.size);
  });

  it('stops as incomplete when the signal says so', async () => {
    const { map, fake } = new FakeKernel(kind).createMap();
    fill(fake, 1000);
    const abort = new AbortController();
    const walk = walkMap(map, { batchEntries: 64, signal: abort.signal });
    const first = await walk.next();
    abort.abort();
    const last = await walk.next();
    const entries = first.done === true ? 0 : first.value.count;
    expect(entries).toBeGreaterThan(0);
    expect(last).toEqual({ done: true, value: { complete: false, entries, restarts: 0, reason: 'interrupted' } });
  });

  it('waits for the batch that is being read when the consumer breaks off', async () => {
    const kernel = new FakeKernel(kind);
    const { map, fake } = kernel.createMap();
    fill(fake, 1000);
    for await (const batch of walkMap(map, { batchEntries: 64 })) {
      expect(batch.count).toBeGreaterThan(0);
      break;
    }
    const calls = kernel.calls.get(BPF_MAP_LOOKUP_BATCH);
    map[Symbol.dispose]();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(kernel.calls.get(BPF_MAP_LOOKUP_BATCH)).toBe(calls);
    expect(kernel.openDescriptors).toBe(0);
  });
});
