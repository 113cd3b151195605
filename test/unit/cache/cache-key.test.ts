import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  endpointKeyOf,
  isEndpointKey,
  parseCacheKey,
  prefixOf,
  prefixTextOf,
} from '../../../src/lib/cache/cache-key.ts';
import { UsageError } from '../../../src/lib/errors.ts';
import { formatPrefix, parsePrefix } from '../../../src/lib/net/prefix.ts';

describe('parseCacheKey()', () => {
  test.each([
    ['10.0.0.1', '10.0.0.1'],
    ['10.0.0.1@0', '10.0.0.1'],
    ['10.0.0.1@7', '10.0.0.1@7'],
    ['10.0.0.1/32', '10.0.0.1/32'],
    ['10.0.0.5/24', '10.0.0.0/24'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['255.255.255.255/0', '0.0.0.0/0'],
    ['128.0.0.0/1', '128.0.0.0/1'],
    ['10.0.0.5/24@3', '10.0.0.0/24@3'],
    ['FD00::1', 'fd00::1'],
    ['fd00:0::/8', 'fd00::/8'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::ffff:10.0.0.1/120', '10.0.0.0/24'],
  ])('%s is %s', (text, key) => {
    expect(parseCacheKey(text)).toBe(key);
  });

  test.each(['', 'bogus', '10.0.0', '10.0.0.256', '010.0.0.1', '10.0.0.0/33', '10.0.0.0/08', '10.0.0.1@', '10.0.0.1/'])(
    'refuses %j',
    (text) => {
      expect(() => parseCacheKey(text)).toThrow(UsageError);
    },
  );

  test('agrees with parsePrefix() on every IPv4 prefix, canonical or not', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.nat(32), (address, length) => {
        const text = `${address}/${length}`;
        expect(parseCacheKey(text)).toBe(formatPrefix(parsePrefix(text)));
        expect(parseCacheKey(address)).toBe(address);
      }),
    );
  });
});

test('an endpoint and the full-length prefix of its address point at each other', () => {
  for (const [endpoint, prefix] of [
    ['10.0.0.1', '10.0.0.1/32'],
    ['10.0.0.1@2', '10.0.0.1/32@2'],
    ['fd00::1', 'fd00::1/128'],
    ['fd00::1@300', 'fd00::1/128@300'],
  ] as const) {
    expect(prefixTextOf(endpoint)).toBe(prefix);
    expect(prefixTextOf(prefix)).toBe(prefix);
    expect(endpointKeyOf(prefix)).toBe(endpoint);
    expect([isEndpointKey(endpoint), isEndpointKey(prefix)]).toEqual([true, false]);
  }
  for (const shorter of ['10.0.0.0/24', '10.0.0.0/3', 'fd00::/12', 'fd00::/32', '10.0.0.0/24@32']) {
    expect(endpointKeyOf(shorter)).toBeUndefined();
  }
});

test('prefixOf() reads keys back exactly, v4-mapped ones as IPv6', () => {
  for (const key of ['10.0.0.0/24', '10.0.0.0/24@9', 'fd00::/8', '::ffff:10.0.0.1/128', '::ffff:10.0.0.0/104@2']) {
    expect(formatPrefix(prefixOf(key))).toBe(key);
  }
  expect(prefixOf('::ffff:10.0.0.1/128').family).toBe('ipv6');
  expect(formatPrefix(prefixOf('10.0.0.1@2'))).toBe('10.0.0.1/32@2');
  expect(() => prefixOf('bogus')).toThrow(TypeError);
});
