import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareLpmKeys, prefixlenOf, sameDataBits, setPrefixlen } from '../../../src/lib/net/lpm-order.ts';
import { arbitraryKey, hex, ipKey } from '../../support/lpm-keys.ts';
import { LpmTrie } from '../../support/lpm-trie.ts';

/** The same map as a list that is searched from end to end. */
class Model {
  readonly entries: { key: Uint8Array; value: number }[] = [];

  set(key: Uint8Array, value: number): void {
    this.delete(key);
    this.entries.push({ key, value });
  }

  delete(key: Uint8Array): boolean {
    const at = this.entries.findIndex((entry) => compareLpmKeys(entry.key, 0, key, 0) === 0);
    if (at >= 0) this.entries.splice(at, 1);
    return at >= 0;
  }

  /** Narrowest first. */
  matches(key: Uint8Array): { length: number; value: number }[] {
    const length = prefixlenOf(key);
    return this.entries
      .map((entry) => ({ ...entry, length: prefixlenOf(entry.key) }))
      .filter((entry) => entry.length <= length && sameDataBits(entry.key, 0, key, 0, entry.length))
      .sort((a, b) => b.length - a.length)
      .map((entry) => ({ length: entry.length, value: entry.value }));
  }

  list(): string[] {
    return [...this.entries].sort((a, b) => compareLpmKeys(a.key, 0, b.key, 0)).map(({ key }) => hex(key));
  }
}

function listKeys(trie: LpmTrie<number>): string[] {
  const keys: string[] = [];
  for (let key = trie.nextKey(); key !== undefined; key = trie.nextKey(key)) keys.push(hex(key));
  return keys;
}

describe('LpmTrie', () => {
  it('agrees with a linear scan after any sequence of changes', () => {
    const change = fc.tuple(fc.constantFrom('set', 'set', 'delete'), arbitraryKey(), fc.nat());
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 60 }),
        fc.array(arbitraryKey(), { maxLength: 20 }),
        (changes, probes) => {
          const trie = new LpmTrie<number>();
          const model = new Model();
          for (const [what, key, number] of changes) {
            if (what === 'set') {
              trie.set(key, number);
              model.set(key, number);
            } else expect(trie.delete(key)).toBe(model.delete(key));
          }
          expect(trie.size).toBe(model.entries.length);
          expect(listKeys(trie)).toEqual(model.list());
          for (const key of [...probes, ...changes.map(([, changed]) => changed)]) {
            const matches = model.matches(key);
            expect(trie.matches(key)).toEqual(matches);
            expect(trie.match(key)).toBe(matches[0]?.value);
            const exact = matches[0]?.length === prefixlenOf(key) ? matches[0].value : undefined;
            expect(trie.get(key)).toBe(exact);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('keeps the spelling of the last writer and finds by any', () => {
    const trie = new LpmTrie<number>();
    trie.set(ipKey('10.1.2.3/8'), 1);
    trie.set(ipKey('10.9.9.9/8'), 2);
    expect(trie.size).toBe(1);
    expect(listKeys(trie)).toEqual([hex(ipKey('10.9.9.9/8'))]);
    expect(trie.get(ipKey('10.0.0.0/8'))).toBe(2);
    expect(trie.delete(ipKey('10.200.0.0/8'))).toBe(true);
    expect(trie.size).toBe(0);
  });

  it('answers no successor of a key that is not stored', () => {
    const trie = new LpmTrie<number>();
    trie.set(ipKey('10.0.0.1/32'), 1);
    expect(trie.nextKey(ipKey('10.0.0.0/32'))).toBeUndefined();
  });

  it('refuses a length beyond its bits', () => {
    const key = ipKey('::1/128');
    setPrefixlen(key, 0, 161);
    expect(() => new LpmTrie<number>().set(key, 1)).toThrow('a prefixlen of 161 is beyond 160 bits');
  });

  it('uses the places of deleted entries again', () => {
    const trie = new LpmTrie<number>();
    for (let round = 0; round < 1000; round++) {
      const key = ipKey(`10.${round & 255}.${round >> 8}.1/32`);
      trie.set(key, round);
      trie.set(ipKey('10.0.0.0/8'), round);
      expect(trie.delete(key)).toBe(true);
    }
    expect(trie.size).toBe(1);
    expect(trie.match(ipKey('10.1.1.1/32'))).toBe(999);
  });
});
