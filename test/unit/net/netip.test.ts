import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MalformedError } from '../../../src/lib/errors.ts';
import { compareAddrClusters, formatAddrCluster, parseAddrCluster } from '../../../src/lib/net/addr-cluster.ts';
import { formatNetipAddr, formatNetipPrefix, parseNetipAddr, parseNetipPrefix } from '../../../src/lib/net/netip.ts';
import {
  canonicalPrefixCluster,
  formatPrefixCluster,
  parsePrefixCluster,
} from '../../../src/lib/net/prefix-cluster.ts';

describe('parseNetipAddr()', () => {
  test.each(['fe80::1%eth0', 'fe80::1%a%b', '::ffff:1.2.3.4%x', '::%0'])('keeps the zone of %s', (text) => {
    expect(formatNetipAddr(parseNetipAddr(text))).toBe(text);
  });

  test.each(['', 'fe80::1%', '10.0.0.1%eth0', '%eth0', '%::1', 'a.b%c', '1.2.3.4:5'])('refuses %j', (text) => {
    expect(() => parseNetipAddr(text)).toThrow(MalformedError);
  });
});

describe('parseNetipPrefix()', () => {
  test('keeps host bits and v4-mapped', () => {
    expect(formatNetipPrefix(parseNetipPrefix('10.1.2.3/8'))).toBe('10.1.2.3/8');
    expect(formatNetipPrefix(parseNetipPrefix('::ffff:10.1.2.3/8'))).toBe('::ffff:10.1.2.3/8');
  });

  test.each(['10.0.0.0', '10.0.0.0/', '10.0.0.0/+', '10.0.0.0/00', '10.0.0.0/33', 'fe80::1%x/64', '/1'])(
    'refuses %j',
    (text) => {
      expect(() => parseNetipPrefix(text)).toThrow(expect.objectContaining({ code: 'BAD_PREFIX', exitCode: 9 }));
    },
  );
});

describe('parsePrefixCluster()', () => {
  const text = fc
    .tuple(
      fc.oneof(fc.ipV4(), fc.constantFrom('fd00::1', '::', '::ffff:10.0.0.9')),
      fc.nat({ max: 32 }),
      fc.nat({ max: 0xffffffff }),
    )
    .map(([address, bits, cluster]) => `${address}/${bits}${cluster === 0 ? '' : `@${cluster}`}`);

  test('is undone by formatPrefixCluster()', () => {
    fc.assert(
      fc.property(text, (value) => {
        expect(formatPrefixCluster(parsePrefixCluster(value))).toBe(value);
      }),
    );
  });

  test('canonicalPrefixCluster() changes nothing the second time', () => {
    fc.assert(
      fc.property(text, (value) => {
        const once = canonicalPrefixCluster(parsePrefixCluster(value));
        expect(formatPrefixCluster(canonicalPrefixCluster(once))).toBe(formatPrefixCluster(once));
      }),
    );
  });

  test('any text is a value or a MalformedError', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          text.map((value) => value.slice(1)),
        ),
        (value) => {
          for (const parse of [parsePrefixCluster, parseAddrCluster]) {
            try {
              parse(value);
            } catch (error) {
              expect(error).toBeInstanceOf(MalformedError);
            }
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('compareAddrClusters()', () => {
  test('orders by kind, value, zone, cluster', () => {
    const sorted = [
      '0.0.0.0',
      '10.0.0.1',
      '10.0.0.1@1',
      '255.0.0.0',
      '::',
      '::ffff:10.0.0.1',
      'fe80::1',
      'fe80::1%a',
      'fe80::1%b',
      'fe80::1%b@4294967295',
    ];
    expect([...sorted].reverse().map(parseAddrCluster).sort(compareAddrClusters).map(formatAddrCluster)).toEqual(
      sorted,
    );
  });
});
