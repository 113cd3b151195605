import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAddress, parseAddress } from '../../../src/lib/net/address.ts';
import { maskAddress, samePrefixBits } from '../../../src/lib/net/prefix.ts';
import { AddressRedactor } from '../../../src/lib/snapshot/redact-address.ts';

const KEY = Uint8Array.from({ length: 32 }, (_, i) => i * 7 + 1);
const address = fc.oneof(
  fc.uint8Array({ minLength: 4, maxLength: 4 }),
  fc.uint8Array({ minLength: 16, maxLength: 16 }),
);
const bits = (bytes: Uint8Array, length: number) => formatAddress(maskAddress(bytes, length));

/** How many leading bits two addresses share. */
function common(a: Uint8Array, b: Uint8Array): number {
  let length = 0;
  while (length < a.length * 8 && samePrefixBits(a, b, length + 1)) length++;
  return length;
}

describe('AddressRedactor', () => {
  it('redact() keeps the number of shared leading bits of every pair', () => {
    const redactor = new AddressRedactor(KEY);
    const pair = fc.oneof(
      fc.tuple(fc.uint8Array({ minLength: 4, maxLength: 4 }), fc.uint8Array({ minLength: 4, maxLength: 4 })),
      fc.tuple(fc.uint8Array({ minLength: 16, maxLength: 16 }), fc.uint8Array({ minLength: 16, maxLength: 16 })),
    );
    fc.assert(
      fc.property(pair, fc.nat(128), ([a, other], shared) => {
        const b = maskAddress(a, Math.min(shared, a.length * 8));
        for (let i = 0; i < b.length; i++) {
          const kept = Math.max(0, Math.min(8, shared - i * 8));
          b[i] = (b[i] ?? 0) | ((other[i] ?? 0) & (0xff >> kept));
        }
        const length = a.length * 8;
        expect(common(redactor.redact(a, length), redactor.redact(b, length))).toBe(common(a, b));
      }),
    );
  });

  it('redact() of a shorter prefix is the start of that of every longer one', () => {
    const redactor = new AddressRedactor(KEY);
    fc.assert(
      fc.property(address, fc.nat(128), (bytes, wanted) => {
        const length = Math.min(wanted, bytes.length * 8);
        expect(bits(redactor.redact(bytes, bytes.length * 8), length)).toBe(
          formatAddress(redactor.redact(bytes, length)),
        );
      }),
    );
  });

  it('redact() depends on nothing that was redacted before', () => {
    const warm = new AddressRedactor(KEY);
    fc.assert(
      fc.property(address, (bytes) => {
        const fresh = new AddressRedactor(KEY);
        expect(warm.redact(bytes, bytes.length * 8)).toEqual(fresh.redact(bytes, bytes.length * 8));
      }),
    );
  });

  it('redact() keeps default routes and redactHost() the unspecified address', () => {
    const redactor = new AddressRedactor(KEY);
    for (const text of ['0.0.0.0', '::']) {
      const bytes = parseAddress(text) ?? new Uint8Array();
      expect(formatAddress(redactor.redact(bytes, 0))).toBe(text);
      expect(formatAddress(redactor.redactHost(bytes))).toBe(text);
    }
  });

  it('redact() differs between keys, families and neighbouring positions', () => {
    const one = new AddressRedactor(KEY);
    const two = new AddressRedactor(KEY.map((byte) => byte ^ 1));
    const host = Uint8Array.of(10, 1, 2, 3);
    expect(one.redact(host, 32)).not.toEqual(two.redact(host, 32));
    const wide = Uint8Array.of(10, 1, 2, 3, ...new Uint8Array(12));
    expect(one.redact(wide, 128).subarray(0, 4)).not.toEqual(one.redact(host, 32));
  });
});
