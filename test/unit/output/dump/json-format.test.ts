import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeEntry } from '../../../../src/lib/ipcache/entry.ts';
import { hexOf } from '../../../../src/lib/ipcache/key.ts';
import { LAYOUTS, type Layout } from '../../../../src/lib/ipcache/layout.ts';
import { JsonFormat, type JsonFormatOptions } from '../../../../src/lib/output/dump/json-format.ts';
import { type EntryLabels, entryJson } from '../../../../src/lib/output/entry-json.ts';
import { type EntrySample, entrySamples } from '../../../support/arbitrary-entry.ts';
import { CollectWriter } from '../../../support/collect-writer.ts';

function format(layout: Layout, samples: readonly EntrySample[], options: Partial<JsonFormatOptions> = {}): string {
  const writer = new CollectWriter();
  const sink = new JsonFormat({ layout, writer, ...options });
  sink.begin();
  for (const { key, value } of samples) sink.entry(key, 0, value, 0);
  sink.end({ entries: samples.length, complete: true });
  return writer.text;
}

function labelsOf(identity: number): EntryLabels | undefined {
  if (identity % 3 === 0) return undefined;
  return { labels: [`k8s:name=n${identity}\u202e"`, 'reserved:world'], labelsFrom: 'allocator' };
}

describe.each(LAYOUTS)('JsonFormat, layout $name', (layout) => {
  it('entry() prints what the decoder and JSON.stringify print', () => {
    fc.assert(
      fc.property(entrySamples(layout), (samples) => {
        const lines = samples.map(({ key, value }) =>
          JSON.stringify(entryJson(decodeEntry(layout, { keys: key, values: value }))),
        );
        expect(format(layout, samples)).toBe(lines.length === 0 ? '[]\n' : `[\n${lines.join(',\n')}\n]\n`);
      }),
    );
  });

  it('entry() adds labels and raw bytes where asked', () => {
    fc.assert(
      fc.property(entrySamples(layout), (samples) => {
        const text = format(layout, samples, { labelsOf, raw: true, lines: true, trailer: true });
        const lines = text.trimEnd().split('\n');
        expect(lines.pop()).toBe(`{"end":true,"entries":${samples.length},"complete":true}`);
        const expected = samples.map(({ key, value }) => {
          const entry = decodeEntry(layout, { keys: key, values: value });
          const raw = { key: hexOf(key), value: hexOf(value) };
          return entryJson(entry, { labels: labelsOf(entry.identity), raw });
        });
        expect(lines.map((line) => JSON.parse(line))).toEqual(expected);
        expect(lines.map((line) => Object.keys(JSON.parse(line)))).toEqual(expected.map((entry) => Object.keys(entry)));
      }),
    );
  });
});

describe('JsonFormat', () => {
  it('append() carries labels larger than its buffer', () => {
    const labels = { labels: [`k8s:${'x'.repeat(300_000)}`], labelsFrom: 'allocator' } as const;
    const key = Uint8Array.from([64, 0, 0, 0, 0, 0, 0, 1, 10, 0, 0, 4, ...new Uint8Array(12)]);
    const text = format(LAYOUTS[0], [{ key, value: new Uint8Array(24) }], { labelsOf: () => labels });
    expect(JSON.parse(text)).toMatchObject([{ prefix: '10.0.0.4/32', ...labels, encryptKey: 0, flags: [] }]);
  });

  it('op 15: an empty map is exactly []', () => {
    expect(format(LAYOUTS[0], [])).toBe('[]\n');
  });
});
