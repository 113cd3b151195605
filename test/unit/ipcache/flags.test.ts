import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/lib/errors.ts';
import { flagNames, parseFlag } from '../../../src/lib/ipcache/flags.ts';

describe('flagNames()', () => {
  test.each([
    [0, 0x0f, []],
    [0x0f, 0x0f, ['skiptunnel', 'hastunnel', 'ipv6tunnel', 'remotecluster']],
    [0xf0, 0x0f, ['0xf0']],
    [0x82, 0x0f, ['hastunnel', '0x80']],
    [0x03, 0x01, ['skiptunnel', '0x2']],
    [0xff, 0x00, ['0xff']],
  ])('names %i with known bits %i as %j', (flags, known, names) => expect(flagNames(flags, known)).toEqual(names));

  test('op 13 unknown bits stay together as one word', () => expect(flagNames(0xf0)).toEqual(['0xf0']));
});

describe('parseFlag()', () => {
  test('reads every word that flagNames() prints back to the same byte', () => {
    fc.assert(
      fc.property(fc.nat({ max: 255 }), fc.nat({ max: 15 }), (byte, known) => {
        const read = flagNames(byte, known).reduce((bits, name) => bits | parseFlag(name), 0);
        expect(read).toBe(byte);
      }),
    );
  });

  test.each(['', 'tunnel', '256', '0x100', '-1', '01', '1.0', '0x', ' 1'])('refuses %j', (text) => {
    expect(() => parseFlag(text)).toThrow(UsageError);
  });

  test.each([
    ['0', 0],
    ['4', 4],
    ['0xF0', 0xf0],
    ['255', 255],
  ] as const)('reads %s', (text, bits) => {
    expect(parseFlag(text)).toBe(bits);
  });
});
