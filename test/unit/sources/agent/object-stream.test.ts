import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ObjectStream } from '../../../../src/lib/sources/agent/object-stream.ts';

function objectsOf(depth: number, ...chunks: string[]): { values: unknown[]; stream: ObjectStream } {
  const values: unknown[] = [];
  const stream = new ObjectStream(depth, (value) => values.push(value));
  for (const chunk of chunks) stream.take(Buffer.from(chunk));
  return { values, stream };
}

describe('ObjectStream', () => {
  it('finds the objects of a list, of a list within an object, and those that follow each other', () => {
    expect(objectsOf(2, '[{"a":1}, {"b":{"c":[{}]}}]').values).toEqual([{ a: 1 }, { b: { c: [{}] } }]);
    expect(objectsOf(3, '{"path":"/x","cache":[{"a":1},{"a":2}]}').values).toEqual([{ a: 1 }, { a: 2 }]);
    expect(objectsOf(1, '{"a":1}\n{"a":2}\n').values).toEqual([{ a: 1 }, { a: 2 }]);
  });

  it('finds the same wherever the pieces are cut', () => {
    const object = fc.dictionary(
      fc.string(),
      fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.constant([{}])),
    );
    fc.assert(
      fc.property(fc.array(object, { maxLength: 5 }), fc.array(fc.nat(), { maxLength: 8 }), (objects, cuts) => {
        const bytes = Buffer.from(JSON.stringify({ other: 'x', list: objects }));
        const values: unknown[] = [];
        const stream = new ObjectStream(3, (value) => values.push(value));
        const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
        for (let i = 1; i < places.length; i++) {
          // The buffer is used again for the next piece, as a socket does it.
          const piece = Buffer.from(bytes.subarray(places[i - 1], places[i]));
          stream.take(piece);
          piece.fill(0);
        }
        expect(JSON.stringify(values)).toBe(JSON.stringify(objects));
        expect([stream.ended, stream.opened]).toEqual([true, true]);
      }),
    );
  });

  it('tells an empty list from a missing one, and a text that is cut off', () => {
    expect(objectsOf(3, '{"cache":[]}').stream.opened).toBe(true);
    expect(objectsOf(3, '{"cache":null}').stream.opened).toBe(false);
    expect(objectsOf(3, '{"cache":[{"a":1},').stream.ended).toBe(false);
    expect(objectsOf(2, '[{"a":"').stream.ended).toBe(false);
    expect(objectsOf(2, ' \n').stream.empty).toBe(true);
  });

  it('refuses what is not JSON, and an object without an end', () => {
    expect(() => objectsOf(1, '{a}')).toThrow(SyntaxError);
    expect(() => objectsOf(2, ']')).toThrow(SyntaxError);
    const piece = `"${'x'.repeat(100_000)}",`;
    expect(() => objectsOf(1, '{"a":[', ...Array.from({ length: 12 }, () => piece))).toThrow(RangeError);
  });
});
