/** Entry lines as rows: the one way from text to numbers, strict about every line. */
import type { Violation } from '../schema/validator.ts';
import { readEntryLine } from './check-line.ts';
import { badLine } from './damage.ts';
import { compareRows, EntryRow } from './entry-row.ts';
import { parseLine } from './parse-line.ts';
import { scanEntryLine } from './scan-entry-line.ts';
import type { SnapshotReader } from './snapshot-reader.ts';

const NEWLINE = 10;

/**
 * Fills the row from the line in `text[from, to)`, without its newline.
 * @returns what is wrong with the line; the row is then of no use
 */
export function readRow(text: Uint8Array, from: number, to: number, row: EntryRow): Violation | undefined {
  if (scanEntryLine(text, from, to, row)) return undefined;
  const value = parseLine(text.subarray(from, to));
  return value === undefined ? { field: '', problem: 'is not JSON' } : readEntryLine(value, row);
}

/**
 * Visits every entry of a snapshot in the order of the file.
 * @param visit gets the same row object every time
 * @throws {MalformedError} naming the line and field that are damaged; entries before it have been visited
 */
export async function visitRows(reader: SnapshotReader, visit: (row: EntryRow) => void): Promise<void> {
  let row = new EntryRow();
  let before: EntryRow | undefined;
  let line = reader.firstEntryLine;
  for await (const block of reader.entryBlocks()) {
    for (let from = 0; from < block.length; line++) {
      const to = block.indexOf(NEWLINE, from);
      const violation = readRow(block, from, to, row);
      if (violation !== undefined) throw badLine(reader.file, line, violation.field, violation.problem);
      if (before !== undefined && compareRows(before, row) >= 0) {
        throw badLine(reader.file, line, 'prefix', 'does not come after that of the line before');
      }
      visit(row);
      const next: EntryRow = before ?? new EntryRow();
      before = row;
      row = next;
      from = to + 1;
    }
  }
}

/**
 * Reads a whole snapshot for nothing but its defects, for readers that look at a part of it only. Closes the reader.
 * @throws {MalformedError} naming the first line and field that are damaged, if any
 */
export async function findDamage(reader: SnapshotReader): Promise<void> {
  await using open = reader;
  for (const _identity of open.identities);
  await visitRows(open, () => {});
}
