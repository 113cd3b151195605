import { describe, expect, it } from 'vitest';
import { parseDuration } from '../../../src/lib/cli/duration.ts';
import { UsageError } from '../../../src/lib/errors.ts';

describe('parseDuration()', () => {
  it.each([
    ['0', 0],
    ['30', 30_000],
    ['1.5', 1_500],
    ['30s', 30_000],
    ['10m', 600_000],
    ['1h30m', 5_400_000],
    ['250ms', 250],
    ['1m250ms', 60_250],
    ['2d', 172_800_000],
    ['0.5s', 500],
  ])('reads %j as %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', ' ', 's', '10x', '-1', '-5s', '1 h', '1e3', '10m5', '1,5s', 'Infinity', '30S', '25d', '99999999999'])(
    'refuses %j',
    (text) => {
      expect(() => parseDuration(text)).toThrow(UsageError);
    },
  );
});
