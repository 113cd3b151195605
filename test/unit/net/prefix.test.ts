import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/lib/errors.ts';
import {
  comparePrefixes,
  containsPrefix,
  formatPrefix,
  makePrefix,
  maskAddress,
  type Prefix,
  parsePrefix,
} from '../../../src/lib/net/prefix.ts';

const canonical = (text: string) => formatPrefix(parsePrefix(text));
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const clusterId = fc.oneof(fc.constant(0), fc.nat({ max: 65535 }));
const prefixes: fc.Arbitrary<Prefix> = fc
  .oneof(
    fc.tuple(bytes(4), fc.nat({ max: 32 }), clusterId),
    fc.tuple(bytes(16), fc.nat({ max: 128 }), clusterId),
    // Close relatives, so that one often contains another.
    fc.tuple(
      fc
        .tuple(fc.constantFrom(10, 11), fc.constantFrom(0, 128), fc.constant(0), fc.constant(0))
        .map((b) => Uint8Array.from(b)),
      fc.nat({ max: 32 }),
      fc.constantFrom(0, 1),
    ),
  )
  .map(([address, length, cluster]) => makePrefix(address, length, cluster));

function refusal(text: string): UsageError {
  try {
    parsePrefix(text);
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error(`${JSON.stringify(text)} was taken`);
}

describe('parsePrefix()', () => {
  test.each([
    ['10.0.0.1', '10.0.0.1/32'],
    ['10.0.0.1@7', '10.0.0.1/32@7'],
    ['10.0.0.0/8@0', '10.0.0.0/8'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['255.255.255.255/1', '128.0.0.0/1'],
    ['FD00:0::1', 'fd00::1/128'],
    ['fd00::1:2/64@65535', 'fd00::/64@65535'],
    ['::/0', '::/0'],
    ['::ffff:10.1.2.3', '10.1.2.3/32'],
    ['::ffff:10.1.2.3/120', '10.1.2.0/24'],
    ['::ffff:0:0/96@2', '0.0.0.0/0@2'],
  ])('reads %s as %s', (text, wanted) => expect(canonical(text)).toBe(wanted));

  test('op 05 the canonical spelling and one with host bits are the same prefix', () => {
    expect(canonical('10.0.0.5/24')).toBe('10.0.0.0/24');
  });

  test('op 08 two spellings are one prefix', () => {
    expect(comparePrefixes(parsePrefix('10.0.0.5/24'), parsePrefix('10.0.0.0/24'))).toBe(0);
    expect(parsePrefix('10.0.0.5/24')).toEqual(parsePrefix('10.0.0.0/24'));
  });

  test('op 09 a bare address means /32', () => expect(canonical('10.68.0.82')).toBe('10.68.0.82/32'));

  test.each([
    ['10.0.0.0/33', 'length "33" is not a number from 0 to 32'],
    ['10.0.0/8', 'an IPv4 address has four octets'],
    ['010.0.0.1', 'leading zero'],
    ['10.0.0.0/24@', 'cluster ID "" is not a number from 0 to 65535'],
    ['10.0.0.0/24@65536', 'cluster ID "65536" is not a number from 0 to 65535'],
    ['10.0.0.0/24@-1', 'cluster ID "-1" is not a number from 0 to 65535'],
    ['@65536', 'cluster ID "65536" is not a number from 0 to 65535'],
    ['@-1', 'cluster ID "-1" is not a number from 0 to 65535'],
    ['fe80::1%eth0', 'zones'],
    ['', 'it is empty'],
    ['192.0.2.7:32', 'a colon where a slash belongs'],
  ])('op 07 %j is refused: %s', (text, state) => {
    const error = refusal(text);
    expect(error.exitCode).toBe(2);
    expect(error.message).toContain(`Cannot read prefix ${JSON.stringify(text)}: `);
    expect(error.message).toContain(state);
  });

  test.each([
    ['192.0.2.7:32', 'did you mean 192.0.2.7/32?'],
    ['10.0.0/8', 'did you mean 10.0.0.0/8?'],
    ['10/8@3', 'did you mean 10.0.0.0/8@3?'],
    ['192.0.2.7:32@3', 'did you mean 192.0.2.7/32@3?'],
  ])('op 07 %j suggests what was meant', (text, hint) => expect(refusal(text).hint).toBe(hint));

  test.each(['192.0.2.7:8080', '192.0.2.7:24/24', '10.0.0/33', '12345', '256.1/16'])(
    'op 07 for %j nothing is suggested that is refused again',
    (text) => expect(refusal(text).hint).toBeUndefined(),
  );

  test.each([
    '::ffff:10.0.0.0/95',
    '10.0.0.0/',
    '10.0.0.0/08',
    '10.0.0.0/+8',
    '10.0.0.0/-0',
    '10.0.0.0/8 ',
    ' 10.0.0.0/8',
    '10.0.0.0//8',
    '10.0.0.0/8/8',
    '10.0.0.0/8@1@2',
    '10.0.0.0@1/8',
    '10.0.0.0/1e1',
    '10.0.0.0/٣',
    '10.0.0.0.0',
    '10.0.0.',
    '.10.0.0.1',
    '10..0.1',
    '10.0.0.256',
    '10.0.0.1\n',
    'fd00::/129',
    'fd00:::1',
    '1:2:3:4:5:6:7:8:9',
    '[::1]',
    '/8',
    '@1',
    'localhost',
  ])('refuses %j', (text) => expect(refusal(text).code).toBe('BAD_PREFIX'));

  test('masks like ipaddr.js', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.nat({ max: 32 }), (address, length) => {
        expect(canonical(`${address}/${length}`)).toBe(
          `${ipaddr.IPv4.networkAddressFromCIDR(`${address}/${length}`)}/${length}`,
        );
      }),
      { numRuns: 1000 },
    );
    fc.assert(
      fc.property(bytes(16), fc.nat({ max: 128 }), (raw, length) => {
        const text = `${new ipaddr.IPv6([...raw]).toNormalizedString()}/${length}`;
        const network = ipaddr.IPv6.networkAddressFromCIDR(text);
        fc.pre(!network.isIPv4MappedAddress());
        expect(canonical(text)).toBe(`${network.toRFC5952String()}/${length}`);
      }),
      { numRuns: 1000 },
    );
  });

  test('reads back what formatPrefix() prints', () => {
    fc.assert(
      fc.property(prefixes, (prefix) => {
        fc.pre(!formatPrefix(prefix).startsWith('::ffff:'));
        expect(parsePrefix(formatPrefix(prefix))).toEqual(prefix);
      }),
      { numRuns: 2000 },
    );
  });

  test('any text is a prefix or a UsageError', () => {
    const parts = fc.constantFrom('10', '0', '255', '.', '/', '@', ':', '::', 'ffff', '32', '-', '%', ' ');
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(parts).map((words) => words.join('')),
        ),
        (text) => {
          try {
            expect(canonical(canonical(text))).toBe(canonical(text));
          } catch (error) {
            expect(error).toBeInstanceOf(UsageError);
          }
        },
      ),
      { numRuns: 3000 },
    );
  });
});

describe('maskAddress()', () => {
  test('copies, also out of a Buffer', () => {
    const source = Buffer.from([1, 2, 3, 255]);
    const masked = maskAddress(source, 31);
    source.fill(0);
    expect(masked).toEqual(Uint8Array.from([1, 2, 3, 254]));
  });
});

describe('containsPrefix()', () => {
  test('agrees with ipaddr.js within a cluster and is false across clusters', () => {
    fc.assert(
      fc.property(prefixes, prefixes, (outer, inner) => {
        const same = outer.family === inner.family && outer.clusterId === inner.clusterId;
        const address = (prefix: Prefix) => ipaddr.fromByteArray([...prefix.address]);
        const wanted = same && outer.length <= inner.length && address(inner).match(address(outer), outer.length);
        expect(containsPrefix(outer, inner)).toBe(wanted);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('comparePrefixes()', () => {
  test('is a total order in which only equal texts are equal', () => {
    fc.assert(
      fc.property(prefixes, prefixes, prefixes, (a, b, c) => {
        expect(Math.sign(comparePrefixes(a, b))).toBe(-Math.sign(comparePrefixes(b, a)) || 0);
        expect(comparePrefixes(a, b) === 0).toBe(formatPrefix(a) === formatPrefix(b));
        if (comparePrefixes(a, b) <= 0 && comparePrefixes(b, c) <= 0)
          expect(comparePrefixes(a, c)).toBeLessThanOrEqual(0);
      }),
      { numRuns: 2000 },
    );
  });

  test('orders by family, cluster, address, length', () => {
    const sorted = ['1.0.0.0/8', '1.0.0.0/16', '2.0.0.0/8', '0.0.0.0/0@1', '::/0', 'fd00::/8', '::/0@1'];
    expect([...sorted].reverse().map(parsePrefix).sort(comparePrefixes).map(formatPrefix)).toEqual(sorted);
  });
});
