/**
 * Where in the address space entries changed. One picture of all of it would be empty but for a speck, so each panel
 * shows the smallest block that has all of its changes, and the next one looks closer at the busiest cell of the last.
 */
import type { ChangeClass } from '../../diff/change-class.ts';
import type { Findings } from '../../diff/judge.ts';
import type { Family } from '../../net/address.ts';
import { addressBits, makePrefix, type Prefix } from '../../net/prefix.ts';
import { ADDRESS_AT } from '../../snapshot/entry-row.ts';
import { CELL_BITS } from './hilbert.ts';

export interface ChurnPanel {
  /** What the square stands for. */
  readonly block: Prefix;
  /** Prefix length of one cell. */
  readonly cellLength: number;
  /** Changes by class for each cell that has any. */
  readonly cells: ReadonlyMap<number, ReadonlyMap<ChangeClass, number>>;
  /** Changes inside of the block. */
  readonly changes: number;
  /** Those of prefixes as wide as the block or wider, which no cell shows. */
  readonly wide: number;
}

interface Point {
  readonly address: Uint8Array;
  readonly length: number;
  readonly name: ChangeClass;
}

const MOST_PANELS = 4;
/** A closer look is worth it where this share of a panel stands in one cell. */
const BUSY_SHARE = 0.25;

/** The panels of one family, the widest first; empty when nothing of it changed. Clusters lie on top of each other. */
export function churnPanels(findings: Findings, family: Family): ChurnPanel[] {
  let points: Point[] = [];
  const bytes = addressBits(family) / 8;
  findings.visitRows((row, name) => {
    if (row.rawKey !== '' || row.family !== family) return;
    points.push({ address: row.sortKey.slice(ADDRESS_AT, ADDRESS_AT + bytes), length: row.length, name });
  });
  const panels: ChurnPanel[] = [];
  while (points.length > 0 && panels.length < MOST_PANELS) {
    const panel = makePanel(points, family);
    const last = panels.at(-1);
    if (last !== undefined && panel.block.length <= last.block.length) break;
    panels.push(panel);
    points = busiest(points, panel);
  }
  return panels;
}

function makePanel(points: readonly Point[], family: Family): ChurnPanel {
  const bits = addressBits(family);
  const block = commonBlock(points, bits);
  const cellLength = block.length + CELL_BITS;
  const cells = new Map<number, Map<ChangeClass, number>>();
  let wide = 0;
  for (const { address, length, name } of points) {
    if (length <= block.length) {
      wide++;
      continue;
    }
    const first = cellOf(address, block.length);
    // A prefix wider than a cell touches several of them.
    const count = 2 ** Math.max(0, cellLength - length);
    for (let cell = first; cell < first + count; cell++) {
      const counts = cells.get(cell) ?? new Map<ChangeClass, number>();
      counts.set(name, (counts.get(name) ?? 0) + 1);
      cells.set(cell, counts);
    }
  }
  return { block, cellLength, cells, changes: points.length, wide };
}

/** The longest prefix of which all points are a quarter at most; very wide ones, such as default routes, do not count. */
function commonBlock(points: readonly Point[], bits: number): Prefix {
  const narrow = points.filter(({ length }) => length >= bits / 8);
  const [first] = narrow;
  if (first === undefined) return makePrefix(new Uint8Array(bits / 8), 0);
  let length = bits - CELL_BITS;
  for (const point of narrow) {
    length = Math.min(length, point.length - 2, sharedBits(first.address, point.address, length));
  }
  return makePrefix(first.address, length);
}

function sharedBits(a: Uint8Array, b: Uint8Array, most: number): number {
  for (let i = 0; i * 8 < most; i++) {
    const differing = (a[i] ?? 0) ^ (b[i] ?? 0);
    if (differing !== 0) return Math.min(most, i * 8 + Math.clz32(differing) - 24);
  }
  return most;
}

/** The bits behind the block. */
function cellOf(address: Uint8Array, from: number): number {
  let cell = 0;
  for (let bit = from; bit < from + CELL_BITS; bit++) {
    cell = (cell << 1) | (((address[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1);
  }
  return cell;
}

/** The points of the busiest cell, if there is more to see in it. */
function busiest(points: readonly Point[], { block, cellLength, cells, changes }: ChurnPanel): Point[] {
  let most = 0;
  let busy = -1;
  for (const [cell, counts] of cells) {
    const count = [...counts.values()].reduce((sum, value) => sum + value, 0);
    if (count > most) {
      most = count;
      busy = cell;
    }
  }
  if (most < 2 || most < changes * BUSY_SHARE || cellLength === block.address.length * 8) return [];
  return points.filter(({ address, length }) => length > cellLength && cellOf(address, block.length) === busy);
}
