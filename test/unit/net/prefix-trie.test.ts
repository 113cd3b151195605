import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { containsPrefix, formatPrefix, makePrefix, type Prefix, parsePrefix } from '../../../src/lib/net/prefix.ts';
import { PrefixTrie } from '../../../src/lib/net/prefix-trie.ts';

/** Few distinct bits, so that random prefixes nest and collide. */
function prefixArbitrary(bytes: 4 | 16): fc.Arbitrary<Prefix> {
  return fc
    .record({
      head: fc.constantFrom(0, 1, 128, 192, 255),
      tail: fc.constantFrom(0, 1, 3, 128),
      length: fc.oneof(fc.constantFrom(0, 1, 8, 24, bytes * 8 - 1, bytes * 8), fc.nat(bytes * 8)),
    })
    .map(({ head, tail, length }) => {
      const address = new Uint8Array(bytes);
      address[0] = head;
      address[bytes / 2] = tail;
      address[bytes - 1] = tail;
      return makePrefix(address, length);
    });
}

const texts = (found: Iterable<string>): string[] => [...found].sort();

function checkAgainstScan(bytes: 4 | 16): void {
  const operation = fc.record({ add: fc.boolean(), prefix: prefixArbitrary(bytes) });
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 60 }), prefixArbitrary(bytes), (operations, probe) => {
      const trie = new PrefixTrie<string>(bytes === 4 ? 'ipv4' : 'ipv6');
      const model = new Map<string, Prefix>();
      for (const { add, prefix } of operations) {
        const text = formatPrefix(prefix);
        if (add) {
          trie.set(prefix.address, prefix.length, text);
          model.set(text, prefix);
        } else expect(trie.delete(prefix.address, prefix.length)).toBe(model.delete(text));
        expect(trie.size).toBe(model.size);
      }
      for (const [text, prefix] of model) expect(trie.get(prefix.address, prefix.length)).toBe(text);
      expect(trie.get(probe.address, probe.length)).toBe(
        model.has(formatPrefix(probe)) ? formatPrefix(probe) : undefined,
      );
      const within: string[] = [];
      trie.forEachWithin(probe.address, probe.length, (text) => within.push(text));
      const inside = [...model].filter(([, prefix]) => containsPrefix(probe, prefix)).map(([text]) => text);
      expect(texts(within)).toEqual(texts(inside));
      const outside = [...model.values()]
        .filter((prefix) => containsPrefix(prefix, probe) && prefix.length < probe.length)
        .sort((a, b) => b.length - a.length)
        .map(formatPrefix);
      expect(trie.covering(probe.address, probe.length)).toEqual(outside);
    }),
    { numRuns: 300 },
  );
}

describe('PrefixTrie', () => {
  test('agrees with a linear scan for IPv4', () => checkAgainstScan(4));

  test('agrees with a linear scan for IPv6', () => checkAgainstScan(16));

  test('delete() gives nodes back: filling and emptying again and again keeps the answers right', () => {
    const trie = new PrefixTrie<number>('ipv4');
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 1000; i++) trie.set(Uint8Array.of(10, i >> 8, i & 255, 1), 32, i);
      const seen: number[] = [];
      trie.forEachWithin(Uint8Array.of(10, 2, 0, 0), 16, (value) => seen.push(value));
      expect(seen).toEqual(Array.from({ length: 256 }, (_, i) => 512 + i));
      for (let i = 0; i < 1000; i++) expect(trie.delete(Uint8Array.of(10, i >> 8, i & 255, 1), 32)).toBe(true);
      expect(trie.size).toBe(0);
    }
  });

  test('covering() leaves out what only shares the leading bits of a longer branch', () => {
    const trie = new PrefixTrie<string>('ipv4');
    for (const text of ['0.0.0.0/0', '10.0.0.0/8', '10.1.0.0/16', '10.1.2.0/24', '10.1.2.3/32']) {
      const { address, length } = parsePrefix(text);
      trie.set(address, length, text);
    }
    const probe = parsePrefix('10.1.3.9/32');
    expect(trie.covering(probe.address, probe.length)).toEqual(['10.1.0.0/16', '10.0.0.0/8', '0.0.0.0/0']);
  });
});
