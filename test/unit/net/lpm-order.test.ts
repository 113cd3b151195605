import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareLpmKeys, dataBit, prefixlenOf, sameDataBits, setPrefixlen } from '../../../src/lib/net/lpm-order.ts';
import { arbitraryKey, ipKey } from '../../support/lpm-keys.ts';

/** The bits of a key as text, host bits left out: narrower prefixes sort before their cover, 0 before 1. */
function rank(key: Uint8Array): string {
  let bits = '';
  for (let i = 0; i < prefixlenOf(key); i++) bits += dataBit(key, 0, i);
  return `${bits}2`;
}

describe('compareLpmKeys()', () => {
  it('sorts as the listing of the kernel: post-order, 0 before 1', () => {
    const listed = ['10.1.1.1/32', '10.1.0.0/16', '10.0.0.0/8', '192.168.0.0/16', '0.0.0.0/0', 'fd00::/8', '::/0'];
    const keys = [...listed.map((text) => ipKey(text)), ipKey('10.0.0.0/8@2')];
    const shuffled = [...keys].reverse();
    expect(shuffled.sort((a, b) => compareLpmKeys(a, 0, b, 0))).toEqual(keys);
  });

  it('takes two spellings of one prefix as equal', () => {
    expect(compareLpmKeys(ipKey('10.0.0.0/12'), 0, ipKey('10.15.255.255/12'), 0)).toBe(0);
    expect(compareLpmKeys(ipKey('10.0.0.0/12'), 0, ipKey('10.16.0.0/12'), 0)).toBeLessThan(0);
  });

  it('agrees with a comparison of bit strings for any two keys at any offset', () => {
    fc.assert(
      fc.property(arbitraryKey(), arbitraryKey(), fc.nat(30), (a, b, offset) => {
        const shifted = new Uint8Array(offset + 24);
        shifted.set(b, offset);
        const expected = rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0;
        expect(Math.sign(compareLpmKeys(a, 0, shifted, offset))).toBe(expected);
        expect(Math.sign(compareLpmKeys(shifted, offset, a, 0)) + expected).toBe(0);
      }),
    );
  });

  it('accepts lengths that no trie stores', () => {
    const key = ipKey('::1/128');
    const beyond = key.slice();
    setPrefixlen(beyond, 0, 0xffffffff);
    expect(prefixlenOf(beyond)).toBe(0xffffffff);
    expect(compareLpmKeys(beyond, 0, key, 0)).toBeLessThan(0);
    expect(compareLpmKeys(beyond, 0, beyond, 0)).toBe(0);
  });

  it('compares keys of other maps when told how many data bytes they have', () => {
    const policy = (bytes: number[]): Uint8Array => Uint8Array.from([64, 0, 0, 0, ...bytes]);
    const a = policy([1, 0, 0, 0, 0, 0, 0, 0]);
    const b = policy([1, 0, 0, 0, 0, 0, 0, 1]);
    expect(compareLpmKeys(a, 0, b, 0, 8)).toBeLessThan(0);
    expect(compareLpmKeys(a, 0, b, 0, 7)).toBe(0);
  });
});

describe('sameDataBits()', () => {
  it('agrees with a look at each bit', () => {
    fc.assert(
      fc.property(arbitraryKey(), arbitraryKey(), fc.integer({ min: 0, max: 160 }), (a, b, bits) => {
        let same = true;
        for (let i = 0; i < bits; i++) same &&= dataBit(a, 0, i) === dataBit(b, 0, i);
        expect(sameDataBits(a, 0, b, 0, bits)).toBe(same);
      }),
    );
  });
});
