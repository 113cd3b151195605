import { isIP, isIPv4, isIPv6 } from 'node:net';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, test } from 'vitest';
import { formatAddress, isMapped, parseAddress, parseIPv4, parseIPv6 } from '../../../src/lib/net/address.ts';

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const zeroRuns = fc
  .array(fc.constantFrom(0, 0, 0, 1, 0xab), { minLength: 16, maxLength: 16 })
  .map((array) => Uint8Array.from(array));
const ipv6 = fc.oneof(bytes(16), zeroRuns);
/** Texts close to an address, so that the border between right and wrong is met often. */
const nearAddress = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc
    .array(fc.constantFrom('0', '1', '25', '256', 'f', 'ffff', '00', ':', '::', '.', '%', '/', ' ', 'g'), {
      maxLength: 17,
    })
    .map((parts) => parts.join('')),
);

describe('parseAddress()', () => {
  test('takes what net.isIP() takes, zones apart', () => {
    fc.assert(
      fc.property(nearAddress, (text) => {
        expect(parseAddress(text)?.length).toBe({ 0: undefined, 4: 4, 6: 16 }[text.includes('%') ? 0 : isIP(text)]);
        expect(parseIPv4(text) !== undefined).toBe(isIPv4(text));
        expect(parseIPv6(text) !== undefined).toBe(isIPv6(text) && !text.includes('%'));
      }),
      { numRuns: 5000 },
    );
  });

  test('finds the bytes that ipaddr.js finds', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        // ipaddr.js takes `::1.2.3.4` for v4-mapped, so IPv6 with a dotted tail is left to the examples below.
        fc.pre(isIPv4(text) || (isIPv6(text) && !text.includes('.')));
        expect([...(parseAddress(text) ?? [])]).toEqual(ipaddr.parse(text).toByteArray());
      }),
      { numRuns: 2000 },
    );
  });
});

describe('formatAddress()', () => {
  test('prints IPv6 as RFC 5952 wants, like ipaddr.js', () => {
    fc.assert(
      fc.property(ipv6, (address) => {
        fc.pre(!isMapped(address));
        expect(formatAddress(address)).toBe(new ipaddr.IPv6([...address]).toRFC5952String());
      }),
      { numRuns: 2000 },
    );
  });

  test('is undone by parseAddress()', () => {
    fc.assert(
      fc.property(fc.oneof(bytes(4), ipv6), (address) => {
        expect(parseAddress(formatAddress(address))).toEqual(address);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['::ffff:1.2.3.4', '::ffff:1.2.3.4'],
    ['::ffff:102:304', '::ffff:1.2.3.4'],
    ['::1.2.3.4', '::102:304'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['1:0:0:2:3:0:0:4', '1::2:3:0:0:4'],
    ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['FE80::', 'fe80::'],
  ])('prints %s as %s', (text, canonical) => {
    expect(formatAddress(parseAddress(text) ?? new Uint8Array(4))).toBe(canonical);
  });
});
