import type { ByteWriter } from './byte-writer.ts';
import { escapeText } from './escape.ts';
import { LineBuffer } from './line-buffer.ts';
import type { Sink } from './sink.ts';
import type { CsvCell, ListView, ReportView } from './view.ts';

/** `-o csv`: RFC 4180 with a header line and `\n` as line end. */
export class CsvSink implements Sink {
  readonly #writer: ByteWriter;

  constructor(writer: ByteWriter) {
    this.#writer = writer;
  }

  async report<Model>(view: ReportView<Model>, model: Model): Promise<void> {
    if (view.csv === undefined) throw new Error(`${view.kind} has no CSV form`);
    const buffer = new LineBuffer(this.#writer);
    buffer.add(csvLine(view.csv.header));
    for (const row of view.csv.rows(model)) buffer.add(csvLine(row));
    buffer.flush();
    await this.#writer.end();
  }

  async list<Row>(view: ListView<Row>, rows: Iterable<Row> | AsyncIterable<Row>): Promise<void> {
    const buffer = new LineBuffer(this.#writer);
    buffer.add(csvLine(view.columns.map((column) => column.title.toLowerCase())));
    try {
      for await (const row of rows)
        buffer.add(csvLine(view.columns.map((column) => column.csv?.(row) ?? column.value(row))));
    } finally {
      buffer.flush();
    }
    await this.#writer.end();
  }
}

/** One line of CSV. A text that a spreadsheet would run as a formula gets an apostrophe in front. */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(csvCell).join(',')}\n`;
}

function csvCell(value: CsvCell): string {
  if (value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  const escaped = escapeText(value);
  const text = /^[=+\-@]/.test(escaped) ? `'${escaped}` : escaped;
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
