import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Label, parseLabel } from '../../../src/lib/identity/label.ts';
import { Labels } from '../../../src/lib/identity/labels.ts';
import { labelsModel } from '../../../src/lib/identity/labels-format.ts';
import { compareText } from '../../../src/lib/identity/utf8-text.ts';

const anyText = fc.string({ unit: fc.constantFrom('a', 'b', ':', '=', ';', '$', '-', 'é', '\u{1f600}'), maxLength: 5 });
const anyLabel: fc.Arbitrary<Label> = fc.record({
  source: fc.oneof(fc.constantFrom('k8s', 'cidr', 'reserved', ''), anyText),
  key: anyText,
  value: anyText,
});
const anyEntries = fc.array(fc.record({ mapKey: anyText, label: anyLabel }), { maxLength: 6 });

describe('Labels', () => {
  test('keeps one label per map key, the last one, in byte order of the keys', () => {
    fc.assert(
      fc.property(anyEntries, (entries) => {
        const naive = new Map(entries.map(({ mapKey, label }) => [mapKey, label]));
        const sorted = [...naive].sort(([a], [b]) => compareText(a, b));
        expect(
          Labels.fromEntries(entries)
            .entries()
            .map(({ mapKey, label }) => [mapKey, label]),
        ).toEqual(sorted);
      }),
    );
  });

  test('compact() is the same set, whatever odd characters it holds', () => {
    fc.assert(
      fc.property(anyEntries, (entries) => {
        const labels = Labels.fromEntries(entries);
        const compact = labels.compact();
        expect(compact.entries()).toEqual(labels.entries());
        expect(compact.sortedList).toBe(labels.sortedList);
        expect(compact.texts()).toEqual(labels.texts());
      }),
      { numRuns: 2000 },
    );
  });

  test('merge() lets the other set win and leaves both as they were', () => {
    const a = Labels.parse(['k8s:a=1', 'k8s:b=2']);
    const b = Labels.parse(['any:a=9', 'k8s:c=3']);
    expect(labelsModel(a.merge(b))).toEqual(['any:a=9', 'k8s:b=2', 'k8s:c=3']);
    expect(labelsModel(a)).toEqual(['k8s:a=1', 'k8s:b=2']);
    expect(a.merge(Labels.EMPTY)).toBe(a);
    expect(Labels.EMPTY.merge(a)).toBe(a);
  });

  test('parse() takes the last of two sources with one key', () => {
    expect(labelsModel(Labels.parse(['k8s:app=x', 'container:app=y']))).toEqual(['container:app=y']);
  });

  test('has() looks at the map key, not at the key of the label', () => {
    const labels = Labels.fromEntries([{ mapKey: 'host', label: parseLabel('k8s:app=x') }]);
    expect(labels.has('host')).toBe(true);
    expect(labels.has('app')).toBe(false);
  });

  test('filter() returns the same set when nothing goes', () => {
    const labels = Labels.parse(['k8s:a=1']);
    expect(labels.filter(() => true)).toBe(labels);
    expect(labels.filter(() => false).size).toBe(0);
  });
});
