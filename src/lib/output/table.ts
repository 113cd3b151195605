import type CliTable3 from 'cli-table3';
import { escapeText } from './escape.ts';
import type { Paint } from './paint.ts';
import type { Column, CsvCell } from './view.ts';

// Two spaces between columns and no lines: easy to read, to grep and to cut.
const NO_LINES = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

/** Lines of a table whose rows are all known. */
export function renderTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], paint: Paint): string[] {
  const Table = require('cli-table3') as typeof CliTable3;
  const table = new Table({
    head: columns.map((column) => paint.bold(column.title)),
    colAligns: columns.map((column) => column.align ?? 'left'),
    chars: NO_LINES,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
  });
  for (const row of rows) table.push(columns.map((column) => cellText(column.value(row))));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
}

/** A cell as printed: escaped, and empty when there is nothing to say. */
export function cellText(value: CsvCell): string {
  return value === undefined ? '' : escapeText(String(value));
}
