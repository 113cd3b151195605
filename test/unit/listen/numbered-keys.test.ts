import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NumberedKeys } from '../../../src/lib/listen/numbered-keys.ts';

describe('NumberedKeys', () => {
  it('has for every number the keys that were added for it, once', () => {
    const number = fc.oneof(
      fc.integer({ min: 0x01000001, max: 0x01000900 }),
      fc.constantFrom(8, 0x02000001, 0xffffffff),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(number, fc.string()), { maxLength: 3000 }), (pairs) => {
        const expected = new Map<number, string[]>();
        const keys = new NumberedKeys();
        for (const [id, key] of pairs) {
          keys.add(id, key);
          expected.set(id, [key, ...(expected.get(id) ?? [])]);
        }
        const found = new Map<number, string[]>();
        for (const id of keys.numbers()) found.set(id, [...(keys.take(id) ?? [])]);
        expect(found).toEqual(expected);
        expect([...keys.numbers()]).toEqual([]);
      }),
    );
  });

  it('take() gives a number away once, also one that has no keys', () => {
    const keys = new NumberedKeys();
    keys.add(0x01000001, 'a');
    expect([...(keys.take(0x01000002) ?? ['?'])]).toEqual([]);
    expect(keys.take(0x01000002)).toBeUndefined();
    const taken = keys.take(0x01000001);
    expect(keys.take(0x01000001)).toBeUndefined();
    expect([...(taken ?? [])]).toEqual(['a']);
    expect([...keys.numbers()]).toEqual([]);
  });
});
