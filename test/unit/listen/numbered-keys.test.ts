import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prefixTextOf } from '../../../src/lib/cache/cache-key.ts';
import { PackedKey } from '../../../src/lib/cache/packed-key.ts';
import { NumberedKeys } from '../../../src/lib/listen/numbered-keys.ts';

describe('NumberedKeys', () => {
  it('has for every number the keys that were added for it, once', () => {
    const number = fc.oneof(
      fc.integer({ min: 0x01000001, max: 0x01000900 }),
      fc.constantFrom(8, 0x02000001, 0xffffffff),
    );
    const key = fc.constantFrom('10.0.0.1', '10.0.0.0/8', 'fd00::7', '10.0.0.1@2', 'fd00:1::/32', '10.255.255.255');
    fc.assert(
      fc.property(fc.array(fc.tuple(number, key), { maxLength: 3000 }), (pairs) => {
        const expected = new Map<number, string[]>();
        const keys = new NumberedKeys();
        for (const [id, key] of pairs) {
          keys.add(id, new PackedKey().read(key));
          expected.set(id, [prefixTextOf(key), ...(expected.get(id) ?? [])]);
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
    keys.add(0x01000001, new PackedKey().read('10.0.0.1'));
    expect([...(keys.take(0x01000002) ?? ['?'])]).toEqual([]);
    expect(keys.take(0x01000002)).toBeUndefined();
    const taken = keys.take(0x01000001);
    expect(keys.take(0x01000001)).toBeUndefined();
    expect([...(taken ?? [])]).toEqual(['10.0.0.1/32']);
    expect([...keys.numbers()]).toEqual([]);
  });
});
