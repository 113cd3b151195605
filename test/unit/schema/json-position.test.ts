import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findField, findSyntaxError } from '../../../src/lib/schema/json-position.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);

describe('findSyntaxError()', () => {
  it.each([
    ['', 0],
    ['[1, 2', 5],
    ['[1 2]', 3],
    ['{"a":1,}', 7],
    ['{"ä":tru}', 6],
    ['[01]', 2],
    ['"a\\x"', 2],
    ['[] []', 3],
    ['\ufeff[]', 0],
    ['{"a" 1}', 5],
    ['"\\u12g4"', 1],
  ])('finds the byte at which %j breaks', (text, offset) => {
    expect(findSyntaxError(bytes(text))).toBe(offset);
  });

  it('finds nothing in what the parser accepts, and something in everything else', () => {
    const damaged = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom('', '"', '{', ',', '0', ' ', 'x'))
      .map(([text, at, by]) => {
        const cut = at % (text.length + 1);
        return text.slice(0, cut) + by + text.slice(cut + 1);
      });
    fc.assert(
      fc.property(fc.oneof(fc.json(), damaged), (text) => {
        let valid = true;
        try {
          JSON.parse(text);
        } catch {
          valid = false;
        }
        expect(findSyntaxError(bytes(text)) === undefined).toBe(valid);
      }),
      { numRuns: 3000 },
    );
  });

  it('ends on input nested without end', () => {
    expect(findSyntaxError(bytes('['.repeat(100_000)))).toBeGreaterThan(500);
  });
});

describe('findField()', () => {
  const text = '{"é": 0, "list": [ {"a": 1}, {"a": {"b": "x"}, "ab": 2} ], "list2": []}';
  it.each([
    ['list[1].a.b', '"x"'],
    ['list[1].ab', '2'],
    ['list[1]', '{"a": {'],
    ['list2', '[]'],
    ['', '{"é"'],
    ['list[0].missing', '{"a": 1}'],
  ])('finds %s', (field, begins) => {
    const offset = findField(bytes(text), field);
    expect(Buffer.from(bytes(text).subarray(offset)).toString().startsWith(begins)).toBe(true);
  });
});
