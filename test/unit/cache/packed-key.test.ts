import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  endpointKeyOf,
  isEndpointKey,
  parseCacheKey,
  prefixOf,
  prefixTextOf,
} from '../../../src/lib/cache/cache-key.ts';
import { PackedKey } from '../../../src/lib/cache/packed-key.ts';

const text = fc
  .tuple(fc.oneof(fc.ipV4(), fc.ipV6()), fc.option(fc.nat(128)), fc.constantFrom('', '', '@1', '@65535'))
  .map(([address, length, cluster]) => {
    const bits = address.includes(':') ? 128 : 32;
    return `${address}${length === null ? '' : `/${Math.min(length, bits)}`}${cluster}`;
  })
  .filter((key) => !/^::ffff:.*\//i.test(key));
const key = fc.oneof(text.map(parseCacheKey), fc.constantFrom('::ffff:10.0.0.0/120', '::/0', '0.0.0.0/0', '0.0.0.0'));

describe('PackedKey', () => {
  it('read() and text() give every key back, and say of it what the text says', () => {
    fc.assert(
      fc.property(key, (given) => {
        const packed = new PackedKey().read(given);
        expect(packed.text()).toBe(given);
        expect(packed.prefixText()).toBe(prefixTextOf(given));
        expect(packed.isEndpoint).toBe(isEndpointKey(given));
        const { family, length, clusterId } = prefixOf(given);
        expect([packed.isIPv6, packed.length, packed.clusterId]).toEqual([family === 'ipv6', length, clusterId]);
        expect(packed.isHostPrefix ? packed.toEndpoint().text() : undefined).toBe(
          isEndpointKey(given) ? undefined : endpointKeyOf(given),
        );
      }),
      { numRuns: 2000 },
    );
  });

  it('equals() is the equality of the texts', () => {
    const near = fc.constantFrom(
      '10.0.0.1',
      '10.0.0.1/32',
      '10.0.0.1@1',
      '10.0.0.0/31',
      '10.0.0.0',
      'a00::',
      'a00::/32',
    );
    fc.assert(
      fc.property(fc.oneof(key, near), fc.oneof(key, near), (a, b) => {
        expect(new PackedKey().read(a).equals(new PackedKey().read(b))).toBe(a === b);
      }),
    );
    expect(new PackedKey().copy(new PackedKey().read('fd00::7@3')).text()).toBe('fd00::7@3');
  });

  it.each(['', '10.0.0', '10.0.0.256', '10.0.0.1/33', '10.0.0.1.2', 'fd00::/129', '<nil>', '10.0.0.1/x'])(
    'tryRead() says no to %j',
    (given) => {
      expect(new PackedKey().tryRead(given)).toBe(false);
      expect(() => new PackedKey().read(given)).toThrow(TypeError);
    },
  );
});
