/** One entry of a snapshot, without reading the rest of it as more than bytes. */
import { countLines } from './count-lines.ts';
import { badLine } from './damage.ts';
import { compareRows, EntryRow } from './entry-row.ts';
import { readRow } from './read-rows.ts';
import type { SnapshotReader } from './snapshot-reader.ts';

const NEWLINE = 10;

/**
 * Finds the entry with the prefix of `wanted`. What follows it is not read; only a file without it is read to its end, which
 * then has to be sound.
 * @returns undefined when there is none; `incomplete` when there is none but the snapshot does not cover its map
 * @throws {MalformedError} for a damaged line near it, and for a file that is cut off before it
 */
export async function findRow(reader: SnapshotReader, wanted: EntryRow): Promise<EntryRow | 'incomplete' | undefined> {
  const row = new EntryRow();
  let passed = false;
  let line = reader.firstEntryLine;
  const readAt = (block: Uint8Array, from: number, to: number, number: number): number => {
    const violation = readRow(block, from, to, row);
    if (violation !== undefined) throw badLine(reader.file, number, violation.field, violation.problem);
    return compareRows(row, wanted);
  };
  for await (const block of reader.entryBlocks()) {
    const last = block.lastIndexOf(NEWLINE, block.length - 2) + 1;
    const lines = countLines(block);
    // Entries are sorted: of all blocks only one can have it.
    if (passed || readAt(block, last, block.length - 1, line + lines - 1) < 0) {
      line += lines;
      continue;
    }
    passed = true;
    for (let from = 0; from < block.length; line++) {
      const to = block.indexOf(NEWLINE, from);
      const order = readAt(block, from, to, line);
      if (order === 0) return row;
      if (order > 0) break;
      from = to + 1;
    }
  }
  return reader.end.complete ? undefined : 'incomplete';
}
