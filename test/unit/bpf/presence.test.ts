import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EPERM } from '../../../src/lib/bpf/errno.ts';
import { KeyProbe } from '../../../src/lib/bpf/key-probe.ts';
import { findStored, isStored } from '../../../src/lib/bpf/presence.ts';
import {
  BPF_MAP_CREATE,
  BPF_MAP_GET_NEXT_KEY,
  BPF_MAP_LOOKUP_BATCH,
  BPF_MAP_LOOKUP_ELEM,
} from '../../../src/lib/bpf/uapi.ts';
import { compareLpmKeys, setPrefixlen } from '../../../src/lib/net/lpm-order.ts';
import { FakeKernel } from '../../support/fake-kernel.ts';
import { arbitraryKey, hex, ipKey, value } from '../../support/lpm-keys.ts';

const KINDS = ['since-6.13', 'before-6.13'] as const;

describe.each(KINDS)('isStored() on a kernel %s', (kind) => {
  function setUp(entries: Record<string, number>) {
    const kernel = new FakeKernel(kind);
    const { map, fake } = kernel.createMap();
    for (const [text, number] of Object.entries(entries)) fake.store.update(ipKey(text), value(number));
    return { kernel, map, fake };
  }

  it('does not take the covering prefix for the key', async () => {
    const { map } = setUp({ '10.0.0.0/8': 1, '10.1.0.0/16': 2 });
    expect(await isStored(map, ipKey('10.1.0.0/16'))).toBe(true);
    expect(await isStored(map, ipKey('10.1.2.3/32'))).toBe(false);
    expect(await isStored(map, ipKey('10.0.0.0/9'))).toBe(false);
    expect(await isStored(map, ipKey('11.0.0.0/8'))).toBe(false);
  });

  it('tells equal neighbours apart', async () => {
    const { map } = setUp({ '10.0.0.0/8': 1, '10.1.0.0/16': 1, '10.1.2.3/32': 1, '10.1.2.5/32': 1 });
    expect(await isStored(map, ipKey('10.1.2.3/32'))).toBe(true);
    expect(await isStored(map, ipKey('10.1.2.4/32'))).toBe(false);
    expect(await isStored(map, ipKey('10.1.2.5/32'))).toBe(true);
    expect(await isStored(map, ipKey('10.1.0.0/17'))).toBe(false);
  });

  it('accepts any spelling and any length', async () => {
    const { map, fake } = setUp({ '10.1.2.3/16': 1 });
    const all = new Uint8Array(24);
    expect(await isStored(map, all)).toBe(false);
    fake.store.update(all, value(9));
    expect(await isStored(map, all)).toBe(true);
    expect(await isStored(map, ipKey('10.1.200.200/16'))).toBe(true);
    const beyond = ipKey('::1/128');
    setPrefixlen(beyond, 0, 161);
    expect(await isStored(map, beyond)).toBe(false);
  });

  it('agrees with the map for any keys and few values', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(arbitraryKey(), fc.integer({ min: 1, max: 2 })), { maxLength: 40 }),
        fc.array(arbitraryKey(), { maxLength: 10 }),
        async (entries, others) => {
          const { map, fake } = setUp({});
          for (const [key, number] of entries) fake.store.update(key, value(number));
          const stored = fake.list().map((line) => Buffer.from(line.slice(0, 48), 'hex'));
          for (const key of [...others, ...entries.map(([stored]) => stored)]) {
            const expected = stored.some((other) => compareLpmKeys(other, 0, key, 0) === 0);
            expect(await isStored(map, key), hex(key)).toBe(expected);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('decides without a walk where the values differ, and since 6.13 always', async () => {
    const { kernel, map } = setUp({ '10.0.0.0/8': 1, '10.1.2.3/32': 2, '10.1.2.5/32': 1 });
    await isStored(map, ipKey('10.1.2.3/32'));
    expect(kernel.calls.get(BPF_MAP_LOOKUP_ELEM)).toBe(3);
    expect(kernel.calls.get(BPF_MAP_GET_NEXT_KEY)).toBeUndefined();
    await isStored(map, ipKey('10.1.2.5/32'));
    expect(kernel.calls.has(BPF_MAP_LOOKUP_BATCH)).toBe(kind === 'before-6.13');
  });

  it('is not misled by a wider entry that changes between two lookups', () => {
    const { kernel, map, fake } = setUp({ '10.0.0.0/8': 1 });
    let changes = 0;
    kernel.onCall = ({ cmd, nth, phase }) => {
      if (cmd !== BPF_MAP_LOOKUP_ELEM || phase !== 'before' || nth > 10) return;
      fake.store.update(ipKey('10.0.0.0/8'), value(100 + changes++));
    };
    expect(new KeyProbe(map).byLookup(ipKey('10.1.2.3/32'))).toBe('undecided');
    expect(changes).toBeGreaterThan(2);
  });

  it('throws where the walk that has to decide is cut short', async () => {
    const { kernel, map, fake } = setUp({ '10.0.0.0/8': 1, '10.1.2.3/32': 1, '10.1.2.4/32': 1 });
    kernel.missing.set(BPF_MAP_CREATE, EPERM);
    for (let i = 0; i < 500; i++) fake.store.update(ipKey(`9.0.${i >> 8}.${i & 255}/32`), value(1));
    const signal = AbortSignal.abort();
    await expect(isStored(map, ipKey('10.1.2.3/32'), { signal })).rejects.toMatchObject({ exitCode: 7 });
  });
});

describe('findStored()', () => {
  it('answers for each key in one walk and stops at the last one', async () => {
    const kernel = new FakeKernel();
    const { map, fake } = kernel.createMap();
    for (let i = 0; i < 2000; i++) fake.store.update(ipKey(`10.0.${i >> 8}.${i & 255}/32`), value(1));
    fake.store.delete(ipKey('10.0.0.9/32'));
    const keys = ['9.0.0.0/8', '10.0.0.7/32', '10.0.0.9/32', '10.0.0.0/24', '10.0.1.0/32'].map((text) => ipKey(text));
    expect(await findStored(map, keys, { batchEntries: 64 })).toEqual([false, true, false, false, true]);
    expect(kernel.calls.get(BPF_MAP_LOOKUP_BATCH)).toBeLessThan(10);
    expect(await findStored(map, [ipKey('255.0.0.0/8')], { batchEntries: 64 })).toEqual([false]);
  });
});
