import { describe, expect, it } from 'vitest';
import { RestoredPrefixes } from '../../../src/lib/listen/restored-prefixes.ts';

const TIME = '2026-01-02T03:04:05.006Z';
const BEFORE = '2026-01-01T00:00:00.000Z';
const MANY = 5000;

const textOf = (i: number): string => `10.0.${i >> 8}.${i & 255}/32`;

function many(): RestoredPrefixes {
  const restored = new RestoredPrefixes(TIME);
  for (let i = 0; i < MANY; i++) {
    restored.add({
      prefix: textOf(i),
      identity: 0x01000001 + i,
      isRequested: i % 2 === 0,
      isGuessed: i % 4 === 0,
      isInMap: i % 3 === 0,
    });
  }
  return restored;
}

describe('RestoredPrefixes', () => {
  it('gives every placeholder back in the order in which it came', () => {
    const placeholders = [...many()];
    expect(placeholders).toHaveLength(MANY);
    expect(placeholders[0]).toEqual({ prefix: '10.0.0.0/32', identity: 0x01000001, requested: true, time: TIME });
    expect(placeholders[4999]).toEqual({ prefix: '10.0.19.135/32', identity: 0x01000001 + 4999, time: TIME });
  });

  it('takeGuess() gives the number of a guessed prefix once', () => {
    const restored = many();
    expect(restored.takeGuess('10.0.16.0/32')).toBe(0x01000001 + 4096);
    expect(restored.takeGuess('10.0.16.0/32')).toBeUndefined();
    expect(restored.takeGuess('10.0.16.1/32')).toBeUndefined();
    expect(restored.takeGuess('10.1.0.0/32')).toBeUndefined();
    expect([...restored]).toHaveLength(MANY);
  });

  it('has nothing while it is empty, and finds what is added after it was asked', () => {
    const restored = new RestoredPrefixes(TIME);
    expect(restored.takeGuess('10.0.0.0/32')).toBeUndefined();
    restored.add({ prefix: '10.0.0.0/32', identity: 7, isRequested: true, isGuessed: true, isInMap: false });
    expect([restored.length, restored.takeGuess('10.0.0.0/32')]).toEqual([1, 7]);
  });

  it('isInMap() is true of the number that the map has alone', () => {
    const restored = many();
    expect(restored.isInMap(textOf(3), 0x01000001 + 3)).toBe(true);
    expect(restored.isInMap(textOf(3), 0x01000001 + 4)).toBe(false);
    expect(restored.isInMap(textOf(4), 0x01000001 + 4)).toBe(false);
    expect(restored.isInMap('10.1.0.0/32', 0)).toBe(false);
  });

  it('keepTime() keeps how long a prefix has had its number, and not that of another number', () => {
    const restored = many();
    restored.keepTime({ prefix: textOf(7), identity: 0x01000001 + 7, time: BEFORE });
    restored.keepTime({ prefix: textOf(8), identity: 1, time: BEFORE });
    restored.keepTime({ prefix: '10.1.0.0/32', identity: 1, time: BEFORE });
    expect([...restored].filter(({ time }) => time !== TIME).map(({ prefix }) => prefix)).toEqual([textOf(7)]);
  });
});
