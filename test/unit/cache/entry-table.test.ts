import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCacheKey } from '../../../src/lib/cache/cache-key.ts';
import { EntryTable, NOWHERE } from '../../../src/lib/cache/entry-table.ts';
import { Owners } from '../../../src/lib/cache/owners.ts';
import { PackedKey } from '../../../src/lib/cache/packed-key.ts';

const owners = new Owners();
const owner = owners.get('', 'kvstore');
const packed = (key: string): PackedKey => new PackedKey().read(key);

/** Few rows of many neighbours, so that keys meet, wrap and are moved up. */
const key = fc.oneof(
  fc.tuple(fc.nat(3), fc.nat(40)).map(([a, b]) => `10.0.${a}.${b}`),
  fc.tuple(fc.nat(3), fc.nat(40)).map(([a, b]) => `10.${a}.${b}.0/24`),
  fc.nat(40).map((a) => parseCacheKey(`fd00::${a.toString(16)}`)),
  fc.nat(40).map((a) => parseCacheKey(`fd00:0:0:${a.toString(16)}::/64`)),
);

function keysOf(table: EntryTable): string[] {
  return [...table.places()].map((place) => table.readKey(place, new PackedKey()).text());
}

describe('EntryTable', () => {
  it('finds what was added and not deleted, whatever came in between', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(key, fc.boolean(), fc.nat(9)), { maxLength: 400 }), (operations) => {
        const table = new EntryTable(owners);
        const model = new Map<string, number>();
        for (const [text, isDelete, identity] of operations) {
          const place = table.find(packed(text));
          expect(place !== NOWHERE).toBe(model.has(text));
          if (isDelete) {
            if (place !== NOWHERE) table.delete(packed(text));
            model.delete(text);
          } else {
            table.set(place === NOWHERE ? table.add(packed(text)) : place, { identity, source: 'kvstore' }, owner);
            model.set(text, identity);
          }
        }
        expect(table.size).toBe(model.size);
        expect(keysOf(table).sort()).toEqual([...model.keys()].sort());
        for (const [text, identity] of model) expect(table.identity(table.find(packed(text)))).toBe(identity);
      }),
      { numRuns: 300 },
    );
  });

  it('keeps very many', () => {
    const table = new EntryTable(owners);
    const text = (i: number) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;
    for (let i = 0; i < 70_000; i++) table.set(table.add(packed(text(i))), { identity: i, source: 'kvstore' }, owner);
    for (let i = 0; i < 70_000; i += 2) table.delete(packed(text(i)));
    expect(table.size).toBe(35_000);
    for (let i = 0; i < 70_000; i++) {
      const place = table.find(packed(text(i)));
      expect(i % 2 === 0 ? place : table.identity(place)).toBe(i % 2 === 0 ? NOWHERE : i);
    }
    for (let i = 1; i < 70_000; i += 2) table.delete(packed(text(i)));
    expect([table.size, keysOf(table)]).toEqual([0, []]);
  });

  it('gives back a value whole, with the largest numbers', () => {
    const table = new EntryTable(owners);
    const place = table.add(packed('fd00::1@65535'));
    const value = { identity: 4294967295, source: 'kvstore', hostIP: '192.0.2.1', encryptKey: 255, endpointFlags: 9 };
    const pod = { namespace: 'shop', name: 'cart-0' };
    table.set(place, { ...value, pod }, owner);
    expect(table.has(place, { ...value, pod: { ...pod } })).toBe(true);
    for (const other of [
      { identity: 1 },
      { hostIP: undefined },
      { encryptKey: 254 },
      { endpointFlags: 1 },
      { pod: undefined },
    ]) {
      expect(table.has(place, { ...value, pod, ...other })).toBe(false);
    }
    expect([table.identity(place), table.hostIP(place), table.encryptKey(place)]).toEqual([
      4294967295,
      '192.0.2.1',
      255,
    ]);
    expect([table.endpointFlags(place), table.pod(place), table.owner(place)]).toEqual([9, pod, owner]);
  });

  it('places() sees every key that is there all the time once, and new ones', () => {
    const table = new EntryTable(owners);
    const add = (text: string): void => table.set(table.add(packed(text)), { identity: 1, source: 'kvstore' }, owner);
    for (let i = 0; i < 100; i++) add(`10.0.0.${i}`);
    const seen: string[] = [];
    for (const place of table.places()) {
      const text = table.readKey(place, new PackedKey()).text();
      seen.push(text);
      if (text !== '10.0.0.50') continue;
      for (let i = 0; i < 10; i++) table.delete(packed(`10.0.0.${i}`));
      for (let i = 0; i < 10; i++) add(`10.0.1.${i}`);
      table.delete(packed('10.0.0.99'));
    }
    const expected = [
      ...Array.from({ length: 99 }, (_, i) => `10.0.0.${i}`),
      ...Array.from({ length: 10 }, (_, i) => `10.0.1.${i}`),
    ];
    expect(seen).toEqual(expected);
  });

  it('keeps weaker values behind the place of their key', () => {
    const table = new EntryTable(owners);
    const place = table.add(packed('10.0.0.1'));
    const value = (identity: number) => ({ identity, source: 'kvstore', hostIP: `192.0.2.${identity}` });
    table.set(place, value(2), owner);
    table.insertBefore(place, value(1), owner);
    const last = table.insertBehind(table.next(place), value(3), owner);
    const identities = (): number[] => {
      const found = [];
      for (let at = place; at !== NOWHERE; at = table.next(at)) found.push(table.identity(at));
      return found;
    };
    expect([identities(), table.hostIP(last), table.size]).toEqual([[1, 2, 3], '192.0.2.3', 1]);
    expect(keysOf(table)).toEqual(['10.0.0.1']);
    table.removeBehind(place);
    expect([identities(), table.hostIP(place)]).toEqual([[1, 3], '192.0.2.1']);
    table.removeHere(place);
    expect([identities(), table.hostIP(place)]).toEqual([[3], '192.0.2.3']);
    expect(table.find(packed('10.0.0.1'))).toBe(place);
  });
});
