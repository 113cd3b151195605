import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findChain } from '../../../src/lib/bpf/chain.ts';
import { EPERM } from '../../../src/lib/bpf/errno.ts';
import { BPF_MAP_CREATE, BPF_MAP_LOOKUP_BATCH, BPF_MAP_LOOKUP_ELEM } from '../../../src/lib/bpf/uapi.ts';
import { setPrefixlen } from '../../../src/lib/net/lpm-order.ts';
import { FakeKernel } from '../../support/fake-kernel.ts';
import { arbitraryKey, ipKey, value } from '../../support/lpm-keys.ts';
import { LpmTrie } from '../../support/lpm-trie.ts';

const KINDS = ['since-6.13', 'before-6.13'] as const;

describe.each(KINDS)('findChain() on a kernel %s', (kind) => {
  function setUp(entries: Record<string, number>) {
    const kernel = new FakeKernel(kind);
    const { map, fake } = kernel.createMap();
    for (const [text, number] of Object.entries(entries)) fake.store.update(ipKey(text), value(number));
    const chainOf = async (text: string): Promise<[number, number][]> => {
      const { entries, settled } = await findChain(map, ipKey(text));
      expect(settled).toBe(true);
      return entries.map((entry) => [entry.prefixlen, new DataView(entry.value.buffer).getUint32(0, true)]);
    };
    return { kernel, map, fake, chainOf };
  }

  it('lists what covers the address, the narrowest first', async () => {
    const { chainOf } = setUp({
      '0.0.0.0/0': 2,
      '172.28.0.0/16': 6,
      '172.28.116.0/24': 7,
      '172.29.0.0/16': 8,
      '::/0': 9,
    });
    expect(await chainOf('172.28.116.118/32')).toEqual([
      [56, 7],
      [48, 6],
      [32, 2],
    ]);
    expect(await chainOf('172.28.0.0/16')).toEqual([
      [48, 6],
      [32, 2],
    ]);
    expect(await chainOf('fd00::1/128')).toEqual([[32, 9]]);
    expect(await chainOf('192.0.2.1/32@7')).toEqual([]);
  });

  it('includes catch-alls below 32 bits, of both families and all clusters', async () => {
    const { fake, chainOf } = setUp({ '10.0.0.0/8': 1 });
    const catchAll = (bits: number, number: number): void => {
      const key = ipKey('0.0.0.0/0');
      setPrefixlen(key, 0, bits);
      fake.store.update(key, value(number));
    };
    catchAll(16, 3);
    catchAll(0, 4);
    expect(await chainOf('10.1.2.3/32')).toEqual([
      [40, 1],
      [16, 3],
      [0, 4],
    ]);
    expect(await chainOf('fd00::1/128')).toEqual([
      [16, 3],
      [0, 4],
    ]);
    expect(await chainOf('10.1.2.3/32@256')).toEqual([[0, 4]]);
  });

  it('finds neighbours of equal value', async () => {
    const { chainOf } = setUp({
      '0.0.0.0/0': 1,
      '10.0.0.0/8': 1,
      '10.1.0.0/16': 1,
      '10.1.2.0/24': 2,
      '10.1.2.3/32': 2,
      '10.1.2.4/32': 2,
    });
    expect(await chainOf('10.1.2.3/32')).toEqual([
      [64, 2],
      [56, 2],
      [48, 1],
      [40, 1],
      [32, 1],
    ]);
    expect(await chainOf('10.1.2.5/32')).toEqual([
      [56, 2],
      [48, 1],
      [40, 1],
      [32, 1],
    ]);
    expect(await chainOf('10.1.3.5/32')).toEqual([
      [48, 1],
      [40, 1],
      [32, 1],
    ]);
  });

  it('agrees with a scan of the map for any entries with few values', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(arbitraryKey(), fc.integer({ min: 1, max: 2 })), { maxLength: 40 }),
        fc.array(arbitraryKey(), { minLength: 1, maxLength: 5 }),
        async (entries, keys) => {
          const { map, fake } = setUp({});
          const model = new LpmTrie<Uint8Array>();
          for (const [key, number] of entries) {
            fake.store.update(key, value(number));
            model.set(key, value(number));
          }
          for (const key of [...keys, ...entries.map(([stored]) => stored)]) {
            const chain = await findChain(map, key);
            const expected = model.matches(key).map(({ length, value }) => ({ prefixlen: length, value }));
            expect(chain).toEqual({ entries: expected, settled: true });
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  it('needs no walk and no private map for an address whose wider entries differ', async () => {
    const { kernel, chainOf } = setUp({ '0.0.0.0/0': 2, '10.0.0.0/8': 3, 'fd00::/8': 5, '::/0': 2 });
    expect(await chainOf('10.1.2.3/32')).toEqual([
      [40, 3],
      [32, 2],
    ]);
    expect(await chainOf('fd00::1/128')).toEqual([
      [40, 5],
      [32, 2],
    ]);
    expect(kernel.calls.get(BPF_MAP_LOOKUP_BATCH)).toBeUndefined();
    expect(kernel.calls.get(BPF_MAP_CREATE)).toBeUndefined();
    expect(kernel.calls.get(BPF_MAP_LOOKUP_ELEM)).toBeLessThan(2 * (65 + 161) + 4);
  });

  it('works where the kernel cannot be probed', async () => {
    const { kernel, chainOf } = setUp({ '10.0.0.0/8': 1, '10.1.2.3/32': 1, '10.1.2.2/32': 1 });
    kernel.missing.set(BPF_MAP_CREATE, EPERM);
    expect(await chainOf('10.1.2.3/32')).toEqual([
      [64, 1],
      [40, 1],
    ]);
    expect(await chainOf('10.1.2.4/32')).toEqual([[40, 1]]);
  });

  it('reads again when an entry changes while it reads, and says so when that never ends', async () => {
    const { kernel, map, fake } = setUp({ '0.0.0.0/0': 2, '10.0.0.0/8': 3 });
    let changes = 0;
    kernel.onCall = ({ cmd, nth, phase }) => {
      if (cmd !== BPF_MAP_LOOKUP_ELEM || phase !== 'before' || nth !== 40) return;
      changes++;
      fake.store.update(ipKey('10.1.2.0/24'), value(4));
    };
    const chain = await findChain(map, ipKey('10.1.2.3/32'));
    expect(changes).toBe(1);
    expect(chain.settled).toBe(true);
    expect(chain.entries.map(({ prefixlen }) => prefixlen)).toEqual([56, 40, 32]);
    kernel.onCall = ({ cmd, nth }) => {
      if (cmd === BPF_MAP_LOOKUP_ELEM) fake.store.update(ipKey('10.1.2.0/24'), value(nth));
    };
    expect((await findChain(map, ipKey('10.1.2.3/32'))).settled).toBe(false);
  });
});
