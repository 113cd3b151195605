import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ENOTSUPP, EPERM } from '../../../src/lib/bpf/errno.ts';
import { BPF_MAP_CREATE, BPF_MAP_LOOKUP_BATCH } from '../../../src/lib/bpf/uapi.ts';
import { drain } from '../../support/drain.ts';
import { FakeKernel } from '../../support/fake-kernel.ts';
import { Storm, type StormOptions } from '../../support/storm.ts';

const KINDS = ['since-6.13', 'before-6.13'] as const;
type Kind = (typeof KINDS)[number];

const WAYS = [
  ['batches', (_: FakeKernel) => undefined],
  ['batches, kernel unknown', (kernel: FakeKernel) => void kernel.missing.set(BPF_MAP_CREATE, EPERM)],
  ['next-key and lookup', (kernel: FakeKernel) => void kernel.missing.set(BPF_MAP_LOOKUP_BATCH, ENOTSUPP)],
] as const;

async function walkThroughStorm(
  kind: Kind,
  way: (kernel: FakeKernel) => void,
  options: StormOptions & { entries: number; batchEntries: number },
): Promise<boolean> {
  const kernel = new FakeKernel(kind);
  const { map, fake } = kernel.createMap({ maxEntries: 2000 });
  way(kernel);
  const storm = new Storm(kernel, fake, options);
  storm.addMany(options.entries);
  const drained = await drain(map, { batchEntries: options.batchEntries });
  storm.judge(drained);
  return drained.result.complete;
}

describe.each(KINDS)('walkMap() on a changing map of a kernel %s', (kind) => {
  it.each(WAYS)('emits every stable key once and no value of another key, by %s', async (_name, way) => {
    let complete = 0;
    const runs = 60;
    await fc.assert(
      fc.asyncProperty(
        fc.integer(),
        fc.integer({ min: 3, max: 60 }),
        fc.integer({ min: 0, max: 500 }),
        fc.integer({ min: 8, max: 64 }),
        async (seed, every, entries, batchEntries) => {
          const rest = { seed, every, restMoments: 100_000 };
          if (await walkThroughStorm(kind, way, { ...rest, entries, batchEntries })) complete++;
        },
      ),
      { numRuns: runs },
    );
    expect(complete).toBe(runs);
  });

  it.each(WAYS)('ends on a map where keys also come back, by %s', async (_name, way) => {
    for (let seed = 0; seed < 40; seed++) {
      const options = { seed, every: 3 + (seed % 30), entries: 400, batchEntries: 16 + seed, restMoments: 2000 };
      await walkThroughStorm(kind, way, options);
    }
  });
});
