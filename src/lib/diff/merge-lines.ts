/**
 * Walks two sorted lists of entry lines at once. Where they agree they are compared as bytes in ever larger pieces and
 * nothing is parsed; only lines that differ become rows. So two snapshots of half a million entries that have little
 * between them cost little more than reading them.
 */
import { compareRows, EntryRow } from '../snapshot/entry-row.ts';
import { readRow } from '../snapshot/read-rows.ts';
import { LineCursor, UnreadableLine } from './line-cursor.ts';

/** Gets every entry that is not the same on both sides. Rows are valid during the call. */
export interface MergeVisitor {
  removed(a: EntryRow): void;
  added(b: EntryRow): void;
  /** One prefix, two lines. */
  changed(a: EntryRow, b: EntryRow): void;
  /** Where it is given, every line is parsed: also those that are the same on both sides. */
  readonly same?: ((row: EntryRow) => void) | undefined;
}

const NEWLINE = 10;
/** Differences are mostly near the start of a line: a first try of a few lines. */
const FIRST_PIECE = 512;
const LARGEST_PIECE = 1 << 18;
const SMALLEST_PIECE = 32;

/**
 * @param aBlocks whole lines, each block valid until the next is asked for; so is `bBlocks`
 * @throws {UnreadableLine} when one side is damaged
 */
export async function mergeLines(
  aBlocks: AsyncIterator<Uint8Array>,
  bBlocks: AsyncIterator<Uint8Array>,
  visitor: MergeVisitor,
): Promise<void> {
  const a = new LineCursor('a', aBlocks);
  const b = new LineCursor('b', bBlocks);
  // Waiting only where a block is used up: a promise for every line would cost more than the line.
  while ((a.at < a.block.length || (await a.fill())) && (b.at < b.block.length || (await b.fill()))) {
    skipSame(a, b, visitor.same);
    // Row by row while one side is ahead; back to bytes once they are level again.
    while (a.at < a.block.length && b.at < b.block.length) {
      a.read();
      b.read();
      const order = compareRows(a.row, b.row);
      if (order < 0) {
        visitor.removed(a.row);
        a.advance();
      } else if (order > 0) {
        visitor.added(b.row);
        b.advance();
      } else {
        if (!a.sameLine(b)) visitor.changed(a.row, b.row);
        else visitor.same?.(a.row);
        a.advance();
        b.advance();
        break;
      }
    }
  }
  for (; await a.fill(); a.advance()) {
    a.read();
    visitor.removed(a.row);
  }
  for (; await b.fill(); b.advance()) {
    b.read();
    visitor.added(b.row);
  }
}

/** Moves both cursors behind all lines, from where they stand, that are the same. */
function skipSame(a: LineCursor, b: LineCursor, same: MergeVisitor['same']): void {
  const shared = sharedBytes(a.block, a.at, b.block, b.at);
  if (shared === 0) return;
  const end = a.block.lastIndexOf(NEWLINE, a.at + shared - 1) + 1;
  if (end <= a.at) return;
  if (same !== undefined) visitLines(a.block, a.at, end, same);
  const length = end - a.at;
  a.skipTo(end);
  b.skipTo(b.at + length);
}

/** How many bytes two buffers share from there on. */
function sharedBytes(a: Buffer, aFrom: number, b: Buffer, bFrom: number): number {
  const most = Math.min(a.length - aFrom, b.length - bFrom);
  let shared = 0;
  let piece = FIRST_PIECE;
  let differs = false;
  // Growing until the first difference, then halving down to it.
  while (shared < most && piece > SMALLEST_PIECE) {
    const length = Math.min(piece, most - shared);
    const from = aFrom + shared;
    const other = bFrom + shared;
    if (a.compare(b, other, other + length, from, from + length) === 0) shared += length;
    else differs = true;
    piece = differs ? length >> 1 : Math.min(piece * 2, LARGEST_PIECE);
  }
  return shared + sharedStart(a, aFrom + shared, b, bFrom + shared, most - shared);
}

function sharedStart(a: Buffer, aFrom: number, b: Buffer, bFrom: number, length: number): number {
  let i = 0;
  while (i < length && a[aFrom + i] === b[bFrom + i]) i++;
  return i;
}

const visited = new EntryRow();

function visitLines(block: Buffer, from: number, to: number, visit: (row: EntryRow) => void): void {
  for (let at = from; at < to; ) {
    const end = block.indexOf(NEWLINE, at);
    if (readRow(block, at, end, visited) !== undefined) throw new UnreadableLine('a');
    visit(visited);
    at = end + 1;
  }
}
