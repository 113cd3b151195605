import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AmbiguousError } from '../../../src/lib/errors.ts';
import { layoutFromEvidence } from '../../../src/lib/ipcache/choose-layout.ts';
import { layoutNamed } from '../../../src/lib/ipcache/layout.ts';
import { LayoutEvidence } from '../../../src/lib/ipcache/layout-evidence.ts';
import { anyKey, anyValue } from '../../support/arbitrary-entry.ts';
import { hexTo } from '../../support/hex.ts';

const PLAIN_KEY = '40000000 0000 00 01 0a000001';

/** The choice for a map of these entries; a value is written as its last four bytes. */
function choose(...entries: readonly { readonly key?: string; readonly tail?: string }[]) {
  const keys = Buffer.concat(entries.map(({ key = PLAIN_KEY }) => hexTo(24, key)));
  const values = Buffer.concat(entries.map(({ tail = '00000000' }) => hexTo(12, `e8030000 0a000001 ${tail}`)));
  const evidence = new LayoutEvidence();
  evidence.observe(keys, values, entries.length);
  const { layout, by, candidates } = layoutFromEvidence('map id 7', evidence.counts);
  return { layout: layout.name, by, candidates: candidates.map((row) => row.name) };
}

const CLUSTER_AT_4 = { key: '40000000 0100 00 01 0a000001' };
const CLUSTER_AT_6 = { key: '40000000 0000 01 01 0a000001' };

describe('layoutFromEvidence()', () => {
  test.each([
    ['byte 11', [{ tail: '00000001' }], '1.16', ['1.16']],
    ['bytes 10 and 11', [{ tail: '00000300' }, { tail: '00000001' }], '1.16', ['1.16']],
    ['byte 9', [{ tail: '00120000' }], '1.14', ['1.14']],
    ['bytes 8, 9 and 10', [{ tail: '34120300' }, {}], '1.14', ['1.14']],
    ['byte 10', [{}, { tail: '00000300' }], '1.16', ['1.16', '1.15']],
    ['byte 8', [{ tail: '03000000' }], '1.5', ['1.5']],
    ['a cluster ID at 4', [CLUSTER_AT_4], '1.16', ['1.16', '1.15']],
    ['a cluster ID at 6', [CLUSTER_AT_6], '1.14', ['1.14']],
    ['a cluster ID at 6, bytes 8 and 10', [CLUSTER_AT_6, { tail: '12000300' }], '1.14', ['1.14']],
  ] as const)('reads %s', (_what, entries, layout, candidates) => {
    expect(choose(...entries)).toEqual({ layout, by: 'content', candidates });
  });

  test('assumes the newest when nothing tells the layouts apart', () => {
    const all = { layout: '1.16', by: 'assumed', candidates: ['1.16', '1.15', '1.14', '1.5'] };
    expect(choose({}, {})).toEqual(all);
    expect(choose()).toEqual(all);
  });

  test.each([
    ['bytes 8 and 10', [{ tail: '03000000' }, { tail: '00000300' }]],
    ['bytes 8 and 11', [{ tail: '03000000' }, { tail: '00000001' }]],
    ['bytes 9 and 11', [{ tail: '00120000' }, { tail: '00000001' }]],
    ['both places of the cluster ID', [CLUSTER_AT_4, CLUSTER_AT_6]],
    ['byte 8 and a cluster ID at 4', [CLUSTER_AT_4, { tail: '03000000' }]],
    ['byte 9 and a cluster ID at 4', [CLUSTER_AT_4, { tail: '00120000' }]],
    ['byte 11 and a cluster ID at 6', [CLUSTER_AT_6, { tail: '00000001' }]],
  ] as const)('refuses %s', (_what, entries) => {
    expect(() => choose(...entries)).toThrow(AmbiguousError);
    expect(() => choose(...entries)).toThrow(/^Cannot tell the layout of map id 7: .* of \d entries$/);
  });

  test('a refusal says where how many bytes were seen', () => {
    const entries = [{ tail: '03000000' }, { tail: '03000000' }, { tail: '00000300' }];
    expect(() => choose(...entries)).toThrow('value byte 8 in 2, value byte 10 in 1 of 3 entries');
  });
});

describe('LayoutEvidence', () => {
  test.each([
    '40000000 0101 01 03 0a000001',
    '46000000 0101 01 01 0a000001',
    '1f000000 0101 01 01 0a000001',
    '40010000 0101 01 01 0a000001',
  ])('takes no cluster ID from the key %s, dead in any layout', (key) => {
    expect(choose({ key }).by).toBe('assumed');
  });

  test('observe() looks only at the entries it is given', () => {
    const keys = Buffer.concat([hexTo(24, PLAIN_KEY), hexTo(24, PLAIN_KEY), hexTo(24, PLAIN_KEY)]);
    const values = Buffer.concat([
      hexTo(12, `${'00'.repeat(8)} 01`),
      hexTo(12, ''),
      hexTo(12, `${'00'.repeat(11)} 01`),
    ]);
    const evidence = new LayoutEvidence();
    evidence.observe(keys, values, 2, 1);
    expect(evidence.counts).toEqual({ entries: 1, value8: 0, value9: 0, value10: 0, value11: 0, key4: 0, key6: 0 });
  });

  test('any map gets a layout or an AmbiguousError, and batches add up', () => {
    const layout = layoutNamed('1.16');
    const entry = fc.tuple(anyKey(layout), anyValue(layout));
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 20 }), fc.nat({ max: 20 }), (entries, cut) => {
        const keys = Buffer.concat(entries.map(([key]) => key));
        const values = Buffer.concat(entries.map(([, value]) => value));
        const whole = new LayoutEvidence();
        whole.observe(keys, values, entries.length);
        const parts = new LayoutEvidence();
        const middle = Math.min(cut, entries.length);
        parts.observe(keys, values, middle);
        parts.observe(keys, values, entries.length, middle);
        expect(parts.counts).toEqual(whole.counts);
        try {
          const { layout: chosen, candidates } = layoutFromEvidence('x', whole.counts);
          expect(candidates[0]).toBe(chosen);
        } catch (error) {
          expect(error).toBeInstanceOf(AmbiguousError);
        }
      }),
    );
  });
});
