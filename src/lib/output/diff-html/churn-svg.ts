/** A panel as inline SVG. */
import { CHANGE_CLASSES, type ChangeClass } from '../../diff/change-class.ts';
import { addressBits, formatPrefix, makePrefix, type Prefix } from '../../net/prefix.ts';
import type { ChurnPanel } from './churn-panels.ts';
import { escapeHtml } from './escape-html.ts';
import { CELL_BITS, hilbertCell, SIDE } from './hilbert.ts';

const CELL = 10;
const SIZE = SIDE * CELL;

/** The colour of a class; also what the legend shows. Told apart with any kind of colour vision. */
export const CLASS_COLOURS: Readonly<Record<ChangeClass, string>> = {
  'cidr-label-lost': '#882255',
  renumbered: '#cc3311',
  relabelled: '#ee7733',
  removed: '#332288',
  added: '#117733',
  retunnelled: '#0077bb',
  rekeyed: '#aa8800',
  reflagged: '#777777',
};

export function churnSvg(panel: ChurnPanel): string {
  const { block, cellLength, cells, changes, wide } = panel;
  const most = Math.max(1, ...[...cells.values()].map(total));
  const rects = [...cells].map(([cell, counts]) => cellRect(panel, cell, counts, most));
  const unit = cellLength === addressBits(block.family) ? 'one address' : `a /${cellLength}`;
  const beside = wide === 0 ? '' : `, ${wide} of wider prefixes not shown`;
  return (
    `<figure><svg viewBox="0 0 ${SIZE} ${SIZE}" role="img" aria-label="changes within ${formatPrefix(block)}">` +
    `<rect width="${SIZE}" height="${SIZE}" class="space"/>${rects.join('')}</svg>` +
    `<figcaption><b>${escapeHtml(formatPrefix(block))}</b>, each cell ${unit}: ${changes} changes${beside}</figcaption></figure>`
  );
}

function cellRect(panel: ChurnPanel, cell: number, counts: ReadonlyMap<ChangeClass, number>, most: number): string {
  const { x, y } = hilbertCell(cell);
  const main = CHANGE_CLASSES.reduce((best, name) => ((counts.get(name) ?? 0) > (counts.get(best) ?? 0) ? name : best));
  // One change is to be seen beside a thousand.
  const opacity = most === 1 ? 1 : 0.35 + 0.65 * (Math.log(total(counts)) / Math.log(most));
  const words = CHANGE_CLASSES.filter((name) => counts.has(name)).map((name) => `${counts.get(name)} ${name}`);
  return (
    `<rect x="${x * CELL}" y="${y * CELL}" width="${CELL}" height="${CELL}" fill="${CLASS_COLOURS[main]}" ` +
    `fill-opacity="${opacity.toFixed(2)}"><title>${formatPrefix(cellPrefix(panel, cell))}: ${words.join(', ')}</title></rect>`
  );
}

function cellPrefix({ block, cellLength }: ChurnPanel, cell: number): Prefix {
  const address = block.address.slice();
  for (let i = 0; i < CELL_BITS; i++) {
    const bit = block.length + i;
    if (((cell >> (CELL_BITS - 1 - i)) & 1) === 1) address[bit >> 3] = (address[bit >> 3] ?? 0) | (0x80 >> (bit & 7));
  }
  return makePrefix(address, cellLength);
}

function total(counts: ReadonlyMap<ChangeClass, number>): number {
  return [...counts.values()].reduce((sum, value) => sum + value, 0);
}
