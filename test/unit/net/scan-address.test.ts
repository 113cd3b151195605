import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAddress, parseAddress } from '../../../src/lib/net/address.ts';
import { scanIPv4, scanIPv6 } from '../../../src/lib/net/scan-address.ts';

/** What the scanner makes of a whole text; undefined when it stops early or refuses. */
function scan(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(`${text}/`);
  const out = new Uint8Array(text.includes(':') ? 16 : 4);
  const end = text.includes(':') ? scanIPv6(bytes, 0, out, 0) : scanIPv4(bytes, 0, out, 0);
  return end === text.length ? out : undefined;
}

describe('scanIPv4() and scanIPv6()', () => {
  it('read every address that is printed', () => {
    const sparse = fc.array(fc.constantFrom(0, 0, 0, 1, 0xab), { minLength: 16, maxLength: 16 });
    const address = fc.oneof(
      fc.uint8Array({ minLength: 4, maxLength: 4 }),
      sparse.map((bytes) => Uint8Array.from(bytes)),
    );
    fc.assert(
      fc.property(address, (bytes) => {
        expect(scan(formatAddress(bytes))).toEqual(bytes);
      }),
    );
  });

  it('agree with the strict parser on text that is nearly an address', () => {
    const part = fc.constantFrom('0', '1', 'ff', '12345', '256', '01', ':', '::', '.', '1.', 'fe80:', ':1', 'g', '');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 9 }), (parts) => {
        const text = parts.join('');
        // A dotted tail is left to the strict parser.
        if (text.includes(':') && text.includes('.')) return;
        expect(scan(text), text).toEqual(parseAddress(text));
      }),
      { numRuns: 2000 },
    );
  });
});
