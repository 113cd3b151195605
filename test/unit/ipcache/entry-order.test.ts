import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeEntry } from '../../../src/lib/ipcache/entry.ts';
import { identityOrder, prefixOrder } from '../../../src/lib/ipcache/entry-order.ts';
import { EntryTable } from '../../../src/lib/ipcache/entry-table.ts';
import { hexOf } from '../../../src/lib/ipcache/key.ts';
import { KEY_BYTES, LAYOUTS, type Layout } from '../../../src/lib/ipcache/layout.ts';
import { compareLpmKeys } from '../../../src/lib/net/lpm-order.ts';
import { comparePrefixes } from '../../../src/lib/net/prefix.ts';
import { type EntrySample, entrySamples } from '../../support/arbitrary-entry.ts';

/** A table as a walk fills it: the order of the trie, each key once, none longer than a key can be. */
function walked(layout: Layout, samples: readonly EntrySample[]): EntryTable {
  const possible = samples.filter(({ key }) => new DataView(key.buffer, key.byteOffset).getUint32(0, true) <= 160);
  const sorted = possible.sort((a, b) => compareLpmKeys(a.key, 0, b.key, 0));
  const table = new EntryTable(layout.value.bytes);
  sorted.forEach(({ key, value }, i) => {
    const before = sorted[i - 1];
    if (before === undefined || compareLpmKeys(before.key, 0, key, 0) !== 0) table.add(key, 0, value, 0);
  });
  return table;
}

const entryAt = (layout: Layout, table: EntryTable, entry: number) =>
  decodeEntry(layout, {
    keys: table.keys,
    keyOffset: entry * KEY_BYTES,
    values: table.values,
    valueOffset: entry * table.valueBytes,
  });

function sortedNaively(layout: Layout, table: EntryTable): number[] {
  const text = (entry: number): string => hexOf(table.keys, entry * KEY_BYTES, KEY_BYTES);
  return Array.from({ length: table.count }, (_, entry) => entry).sort((a, b) => {
    const one = entryAt(layout, table, a).canonical;
    const other = entryAt(layout, table, b).canonical;
    if (one && other) return comparePrefixes(one, other);
    return one ? -1 : other ? 1 : text(a) < text(b) ? -1 : 1;
  });
}

describe.each(LAYOUTS)('layout $name', (layout) => {
  it('prefixOrder() is the order that sorting gives', () => {
    fc.assert(
      fc.property(entrySamples(layout), (samples) => {
        const table = walked(layout, samples);
        expect([...prefixOrder(table, layout)]).toEqual(sortedNaively(layout, table));
      }),
    );
  });
});

describe('identityOrder()', () => {
  it('sorts by number and keeps the order given within one', () => {
    const identities = [7, 0xffffffff, 3, 7, 3];
    const order = Uint32Array.from([4, 0, 1, 2, 3]);
    expect([...identityOrder(order, (entry) => identities[entry] ?? 0)]).toEqual([4, 2, 0, 3, 1]);
  });
});
