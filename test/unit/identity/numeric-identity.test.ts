import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/lib/errors.ts';
import {
  allocationRange,
  clusterIdOf,
  localIndex,
  numericIdentity,
  parseNumericIdentity,
  scopeOf,
} from '../../../src/lib/identity/numeric-identity.ts';

const CLUSTERS_255 = { maxConnectedClusters: 255 } as const;
const CLUSTERS_511 = { maxConnectedClusters: 511 } as const;

describe('numeric identities', () => {
  test('op 14 16379101 is global of cluster 249, 33156317 is local with index 16379101', () => {
    expect(scopeOf(16379101)).toBe('global');
    expect(clusterIdOf(16379101, CLUSTERS_255)).toBe(249);
    expect(scopeOf(33156317)).toBe('local');
    expect(localIndex(33156317)).toBe(16379101);
  });

  test('op 11 127519 is of cluster 1', () => {
    expect(clusterIdOf(127519, CLUSTERS_255)).toBe(1);
  });

  test('scopeOf() knows every top byte', () => {
    expect([0, 255, 256, 0xffffff].map(scopeOf)).toEqual(['reserved', 'reserved', 'global', 'global']);
    expect([0x01000000, 0x01ffffff, 0x02000001, 0x03000000, 0xffffffff].map(scopeOf)).toEqual([
      'local',
      'local',
      'remote-node',
      'unknown',
      'unknown',
    ]);
  });

  test('allocationRange() of every cluster follows the one before', () => {
    for (const options of [CLUSTERS_255, CLUSTERS_511]) {
      for (let cluster = 1; cluster <= options.maxConnectedClusters; cluster++) {
        const { min, max } = allocationRange(cluster, options);
        expect(min).toBe(allocationRange(cluster - 1, options).max + 1);
        expect([clusterIdOf(min, options), clusterIdOf(max, options)]).toEqual([cluster, cluster]);
      }
    }
  });

  test('numericIdentity() refuses what is not 32 bits', () => {
    for (const value of [-1, 2 ** 32, 1.5, Number.NaN]) expect(() => numericIdentity(value)).toThrow(RangeError);
  });
});

describe('parseNumericIdentity()', () => {
  test('reads back every number in all bases', () => {
    fc.assert(
      fc.property(fc.nat(0xffffffff), (value) => {
        for (const text of [
          `${value}`,
          `0x${value.toString(16)}`,
          `0o${value.toString(8)}`,
          `0b${value.toString(2)}`,
        ]) {
          expect(parseNumericIdentity(text)).toBe(value);
        }
      }),
    );
  });

  test.each([
    ['1_000', 1000],
    ['0x_ff', 255],
    ['0_17', 15],
    ['0B11', 3],
    ['0XfF', 255],
  ])('reads %s', (text, value) => {
    expect(parseNumericIdentity(text)).toBe(value);
  });

  test.each(['', '_1', '1_', '1__0', '08', '0x', '0b2', ' 1', '1 ', '٣', '0_x1'])('refuses %j', (text) => {
    expect(() => parseNumericIdentity(text)).toThrow('it is not an unsigned number');
  });

  test('says when a number is beyond 32 bits', () => {
    expect(() => parseNumericIdentity('4294967296')).toThrow('larger than 4294967295 (32 bits)');
    expect(() => parseNumericIdentity(`0x${'f'.repeat(400)}`)).toThrow(UsageError);
  });
});
