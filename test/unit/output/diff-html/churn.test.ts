import { describe, expect, it } from 'vitest';
import { runDiff } from '../../../../src/lib/diff/run-diff.ts';
import { formatPrefix } from '../../../../src/lib/net/prefix.ts';
import { churnPanels } from '../../../../src/lib/output/diff-html/churn-panels.ts';
import { churnSvg } from '../../../../src/lib/output/diff-html/churn-svg.ts';
import { CELL_BITS, hilbertCell, SIDE } from '../../../../src/lib/output/diff-html/hilbert.ts';
import { inputOf } from '../../../support/diff-inputs.ts';
import { type EntryValue, sortEntries } from '../../../support/snapshot-lines.ts';

async function panelsOf(prefixes: readonly string[], family: 'ipv4' | 'ipv6' = 'ipv4') {
  const entries = (identity: number): EntryValue[] =>
    sortEntries(prefixes.map((prefix) => ({ prefix, family, identity, encryptKey: 0, flags: 0 })));
  const findings = await runDiff(inputOf('a', { entries: entries(300) }), inputOf('b', { entries: entries(301) }), {
    settle: async () => {},
  });
  expect(findings.size).toBe(prefixes.length);
  return churnPanels(findings, family);
}

describe('hilbertCell()', () => {
  it('fills the square, and neighbours in number are neighbours in place', () => {
    const cells = Array.from({ length: 2 ** CELL_BITS }, (_, i) => hilbertCell(i));
    expect(new Set(cells.map(({ x, y }) => y * SIDE + x)).size).toBe(SIDE * SIDE);
    for (const [i, cell] of cells.entries()) {
      const next = cells[i + 1];
      if (next !== undefined) expect(Math.abs(next.x - cell.x) + Math.abs(next.y - cell.y)).toBe(1);
    }
  });
});

describe('churnPanels()', () => {
  it('shows the smallest block, then looks closer at its busiest cell', async () => {
    const busy = Array.from({ length: 64 }, (_, i) => `10.1.${i}.0/24`);
    const panels = await panelsOf([...busy, '192.0.2.1/32']);
    expect(panels.map(({ block, changes }) => [formatPrefix(block), changes])).toEqual([
      ['0.0.0.0/0', 65],
      ['10.1.0.0/18', 64],
    ]);
    const [, close] = panels;
    expect(close?.cellLength).toBe(28);
    expect(close?.cells.size, 'each /24 touches sixteen cells').toBe(64 * 16);
    const svg = churnSvg(close as NonNullable<typeof close>);
    expect(svg).toContain('<title>10.1.63.240/28: 1 renumbered</title>');
  });

  it('keeps wide prefixes out of the picture and says so', async () => {
    const [panel] = await panelsOf(['0.0.0.0/0', '10.0.0.0/24', '10.0.0.7/32']);
    expect([formatPrefix(panel?.block as never), panel?.changes, panel?.wide]).toEqual(['10.0.0.0/22', 3, 1]);
  });

  it('shows single addresses of either family, and only default routes too', async () => {
    const [four] = await panelsOf(['10.0.0.7/32']);
    expect([formatPrefix(four?.block as never), four?.cells.size]).toEqual(['10.0.0.0/22', 1]);
    const [six] = await panelsOf(['2001:db8::7/128'], 'ipv6');
    expect([six?.cellLength, six?.cells.size]).toEqual([128, 1]);
    const [route] = await panelsOf(['0.0.0.0/0']);
    expect([route?.wide, route?.cells.size]).toEqual([1, 0]);
    expect(await panelsOf(['10.0.0.7/32'], 'ipv4')).toHaveLength(1);
  });
});
