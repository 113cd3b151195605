import { describe, expect, it } from 'vitest';
import { BPF_MAP_GET_NEXT_KEY, BPF_MAP_LOOKUP_BATCH } from '../../../src/lib/bpf/uapi.ts';
import { explainPrefix, lacksHostEntry } from '../../../src/lib/ipcache/explain-prefix.ts';
import { layoutNamed } from '../../../src/lib/ipcache/layout.ts';
import { parsePrefix } from '../../../src/lib/net/prefix.ts';
import { FakeKernel } from '../../support/fake-kernel.ts';
import type { TrieKind } from '../../support/fake-trie.ts';
import { entryBytes, type WordEntry } from '../../support/pinned-ipcache.ts';

const V2 = { layout: layoutNamed('v2'), by: 'size', candidates: [layoutNamed('v2')] } as const;
const KINDS: readonly TrieKind[] = ['since-6.13', 'before-6.13'];

function mapOf(kind: TrieKind, entries: readonly WordEntry[]) {
  const kernel = new FakeKernel(kind);
  const { map } = kernel.createMap();
  for (const entry of entries) {
    const { key, value } = entryBytes('v2', entry);
    map.update(key, value);
  }
  return { kernel, map };
}

const HOST: WordEntry = { prefix: '10.1.2.3/32', identity: 300, tunnel: '192.0.2.1' };
const WIDE: WordEntry = { prefix: '10.1.0.0/16', identity: 6 };
const ALL: WordEntry = { prefix: '0.0.0.0/0', identity: 2 };

describe.each(KINDS)('explainPrefix(), trie %s', (kind) => {
  it('lists everything that covers an address, narrowest first', async () => {
    const { map } = mapOf(kind, [HOST, WIDE, ALL, { prefix: '10.2.0.0/16', identity: 7 }]);
    const { chain, exact, settled } = await explainPrefix(map, V2, parsePrefix('10.1.2.3'));
    expect(chain.map(({ entry }) => [entry.prefix, entry.identity])).toEqual([
      ['10.1.2.3/32', 300],
      ['10.1.0.0/16', 6],
      ['0.0.0.0/0', 2],
    ]);
    expect([exact, settled]).toEqual([true, true]);
  });

  it('tells neighbours of equal value apart', async () => {
    const { map } = mapOf(kind, [{ ...WIDE, identity: 2 }, { prefix: '10.1.2.0/24', identity: 2 }, ALL]);
    const { chain } = await explainPrefix(map, V2, parsePrefix('10.1.2.3'));
    expect(chain.map(({ entry }) => entry.prefix)).toEqual(['10.1.2.0/24', '10.1.0.0/16', '0.0.0.0/0']);
  });

  it('asks by lookups alone where no neighbours have equal values', async () => {
    const { kernel, map } = mapOf(kind, [HOST, WIDE, ALL]);
    kernel.calls.clear();
    await explainPrefix(map, V2, parsePrefix('10.1.2.3'));
    const listed = (kernel.calls.get(BPF_MAP_LOOKUP_BATCH) ?? 0) + (kernel.calls.get(BPF_MAP_GET_NEXT_KEY) ?? 0);
    // Lengths between two entries have equal values as well; next-key rules them out, and no walk is needed.
    expect(kernel.calls.get(BPF_MAP_LOOKUP_BATCH) ?? 0).toBe(0);
    expect(listed).toBeLessThan(200);
  });

  it('op 18: without a host entry the network answers, and that is noticed', async () => {
    const { map } = mapOf(kind, [ALL, { prefix: '172.28.0.0/16', identity: 6 }]);
    const prefix = parsePrefix('172.28.116.118');
    const explanation = await explainPrefix(map, V2, prefix);
    expect(explanation.chain.map(({ entry }) => entry.prefix)).toEqual(['172.28.0.0/16', '0.0.0.0/0']);
    expect(explanation.exact).toBe(false);
    expect(lacksHostEntry(prefix, explanation)).toBe(true);
  });

  it('op 06: a catch-all stands in the chain of both families', async () => {
    const { map } = mapOf(kind, [ALL]);
    const key = new Uint8Array(24);
    key[0] = 16;
    map.update(key, entryBytes('v2', { prefix: '::/0', identity: 9 }).value);
    for (const text of ['10.0.0.1', 'fd00::1']) {
      const { chain } = await explainPrefix(map, V2, parsePrefix(text));
      expect(chain.at(-1)?.entry).toMatchObject({ identity: 9, warnings: ['catch-all'] });
    }
  });

  it('keeps clusters apart', async () => {
    const { map } = mapOf(kind, [{ ...HOST, prefix: '10.1.2.3/32@7' }, ALL]);
    const found = async (text: string) =>
      (await explainPrefix(map, V2, parsePrefix(text))).chain.map(({ entry }) => entry.prefix);
    expect(await found('10.1.2.3@7')).toEqual(['10.1.2.3/32@7']);
    expect(await found('10.1.2.3')).toEqual(['0.0.0.0/0']);
    expect(await found('10.1.2.3@8')).toEqual([]);
  });
});
