/** The fake trie is worth something only as long as it does what this kernel does. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { errnoOf } from '../../../src/lib/bpf/bpf-error.ts';
import type { BpfMap } from '../../../src/lib/bpf/map.ts';
import { nextKeyRestarts } from '../../../src/lib/bpf/next-key-restarts.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { compareLpmKeys } from '../../../src/lib/net/lpm-order.ts';
import { FakeKernel } from '../../support/fake-kernel.ts';
import { arbitraryKey, hex, value } from '../../support/lpm-keys.ts';
import { bpfDescriptors, realTrie } from '../../support/real-kernel.ts';

const KEY_BYTES = 24;
const VALUE_BYTES = 4;
const MAX_ENTRIES = 40;

const kernel = new LinuxKernel();
let kind: 'since-6.13' | 'before-6.13';
let descriptors = 0;

beforeAll(async () => {
  kind = (await nextKeyRestarts(kernel)) ? 'since-6.13' : 'before-6.13';
  descriptors = bpfDescriptors();
});

afterAll(() => expect(bpfDescriptors()).toBe(descriptors));

type Step =
  | { readonly op: 'update'; readonly key: Uint8Array; readonly number: number; readonly flags: number }
  | { readonly op: 'delete' | 'lookup' | 'nextKey'; readonly key: Uint8Array }
  | { readonly op: 'batch'; readonly key: Uint8Array | undefined; readonly count: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant('update' as const),
      key: arbitraryKey(),
      number: fc.nat(99),
      flags: fc.constantFrom(0, 0, 0, 1, 2, 3),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('delete' as const), key: arbitraryKey() }) },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constantFrom('lookup' as const, 'nextKey' as const), key: arbitraryKey() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant('batch' as const),
      key: fc.option(arbitraryKey(), { nil: undefined }),
      count: fc.integer({ min: 1, max: 50 }),
    }),
  },
);

async function run(map: BpfMap, next: Step): Promise<unknown> {
  const out = new Uint8Array(KEY_BYTES);
  try {
    switch (next.op) {
      case 'update':
        map.update(next.key, value(next.number, VALUE_BYTES), next.flags);
        return 'done';
      case 'delete':
        return map.delete(next.key);
      case 'lookup':
        return map.lookup(next.key, out) && hex(out.subarray(0, VALUE_BYTES));
      case 'nextKey':
        return map.nextKey(next.key, out) && hex(out);
      case 'batch': {
        const keys = new Uint8Array(KEY_BYTES * next.count);
        const values = new Uint8Array(VALUE_BYTES * next.count);
        const { count, end } = await map.lookupBatch(next.key, out, keys, values, next.count);
        return { count, end, cursor: hex(out), keys: hex(keys), values: hex(values) };
      }
    }
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    return errno;
  }
}

function listKeys(map: BpfMap): string[] {
  const keys: string[] = [];
  const first = new Uint8Array(KEY_BYTES);
  for (let more = map.nextKey(undefined, first); more; ) {
    keys.push(hex(first));
    const next = new Uint8Array(KEY_BYTES);
    more = map.nextKey(first, next);
    first.set(next);
  }
  return keys;
}

it('FakeKernel answers every operation on a trie as this kernel does', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 150 }), async (steps) => {
      const spec = { valueBytes: VALUE_BYTES, maxEntries: MAX_ENTRIES };
      using real = realTrie(kernel, spec);
      const { map: fake } = new FakeKernel(kind).createMap(spec);
      for (const [i, next] of steps.entries()) {
        expect(await run(fake, next), `step ${i}: ${next.op}`).toEqual(await run(real, next));
      }
      const listed = listKeys(real);
      expect(listKeys(fake)).toEqual(listed);
      const sorted = listed.map((key) => Buffer.from(key, 'hex')).sort((a, b) => compareLpmKeys(a, 0, b, 0));
      expect(listed).toEqual(sorted.map((key) => hex(key)));
    }),
    { numRuns: 300 },
  );
});
