import type { ByteWriter } from './byte-writer.ts';
import { safeJson } from './escape.ts';
import { addReport } from './json-sink.ts';
import { LineBuffer } from './line-buffer.ts';
import type { Sink } from './sink.ts';
import type { ListView, ReportView } from './view.ts';

/** `-o ndjson`: one object a line; a report is a single line. */
export class NdjsonSink implements Sink {
  readonly #writer: ByteWriter;

  constructor(writer: ByteWriter) {
    this.#writer = writer;
  }

  async report<Model>(view: ReportView<Model>, model: Model): Promise<void> {
    const buffer = new LineBuffer(this.#writer);
    addReport(view, model, buffer);
    buffer.flush();
    await this.#writer.end();
  }

  async list<Row>(view: ListView<Row>, rows: Iterable<Row> | AsyncIterable<Row>): Promise<void> {
    const buffer = new LineBuffer(this.#writer);
    try {
      for await (const row of rows) buffer.add(`${safeJson(view.json(row))}\n`);
    } finally {
      buffer.flush();
    }
    await this.#writer.end();
  }
}
