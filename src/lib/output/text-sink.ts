import type { ByteWriter } from './byte-writer.ts';
import { LineBuffer } from './line-buffer.ts';
import type { Paint } from './paint.ts';
import type { Sink } from './sink.ts';
import { cellText, renderTable } from './table.ts';
import type { ListView, ReportView } from './view.ts';

// Up to here the table is measured and aligned exactly; beyond, rows stream with the widths of the first ones.
const MEASURED_ROWS = 1_000;

/** `-o table`: for people. Nothing that draws is loaded before the first row is there. */
export class TextSink implements Sink {
  readonly #writer: ByteWriter;
  readonly #paint: () => Paint;

  constructor(writer: ByteWriter, paint: () => Paint) {
    this.#writer = writer;
    this.#paint = paint;
  }

  async report<Model>(view: ReportView<Model>, model: Model): Promise<void> {
    const buffer = new LineBuffer(this.#writer);
    for (const line of view.text(model, this.#paint())) buffer.add(`${line}\n`);
    buffer.flush();
    await this.#writer.end();
  }

  async list<Row>(view: ListView<Row>, rows: Iterable<Row> | AsyncIterable<Row>): Promise<void> {
    const buffer = new LineBuffer(this.#writer);
    let first: Row[] | undefined = [];
    let widths: number[] = [];
    const printFirst = (): void => {
      if (first === undefined || first.length === 0) return;
      for (const line of renderTable(view.columns, first, this.#paint())) buffer.add(`${line}\n`);
      widths = view.columns.map((column) =>
        Math.max(column.title.length, ...(first ?? []).map((row) => cellText(column.value(row)).length)),
      );
      first = undefined;
    };
    try {
      for await (const row of rows) {
        if (first === undefined) {
          buffer.add(`${plainRow(view, row, widths)}\n`);
        } else if (first.push(row) >= MEASURED_ROWS) {
          printFirst();
        }
      }
    } finally {
      printFirst();
      if (first !== undefined) buffer.add(`${view.empty}\n`);
      buffer.flush();
    }
    await this.#writer.end();
  }
}

function plainRow<Row>(view: ListView<Row>, row: Row, widths: readonly number[]): string {
  const cells = view.columns.map((column, i) => {
    const text = cellText(column.value(row));
    const width = widths[i] ?? 0;
    return column.align === 'right' ? text.padStart(width) : text.padEnd(width);
  });
  return cells.join('  ').trimEnd();
}
