import { describe, expect, it } from 'vitest';
import { nearestName } from '../../../src/lib/cli/nearest.ts';

const KNOWN = ['dump', 'delete', 'decode', 'restore', 'release', 'json', 'identity'];

describe('nearestName()', () => {
  it.each([
    ['dmup', 'dump'],
    ['dumb', 'dump'],
    ['DUMP', 'dump'],
    ['relese', 'release'],
    ['restor', 'restore'],
    ['idenity', 'identity'],
    ['ident', 'identity'],
    ['jsno', 'json'],
    ['jso', 'json'],
    ['xyz', undefined],
    ['d', undefined],
    ['', undefined],
  ])('%j is near %j', (given, nearest) => {
    expect(nearestName(given, KNOWN)).toBe(nearest);
  });
});
