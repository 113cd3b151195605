import type { ByteWriter } from './byte-writer.ts';
import { safeJson } from './escape.ts';
import { LineBuffer } from './line-buffer.ts';
import type { Sink } from './sink.ts';
import type { ListView, ReportView } from './view.ts';

export const REPORT_SCHEMA_VERSION = 1;

/** The report as one line of JSON, without a newline. */
export function reportJson<Model>(view: ReportView<Model>, model: Model): string {
  return safeJson({ kind: view.kind, schemaVersion: REPORT_SCHEMA_VERSION, ...view.json(model) });
}

/** `-o json`: always one well-formed document. */
export class JsonSink implements Sink {
  readonly #writer: ByteWriter;

  constructor(writer: ByteWriter) {
    this.#writer = writer;
  }

  async report<Model>(view: ReportView<Model>, model: Model): Promise<void> {
    this.#writer.write(Buffer.from(`${reportJson(view, model)}\n`));
    await this.#writer.end();
  }

  async list<Row>(view: ListView<Row>, rows: Iterable<Row> | AsyncIterable<Row>): Promise<void> {
    const buffer = new LineBuffer(this.#writer);
    let separator = '[\n';
    try {
      for await (const row of rows) {
        buffer.add(separator + safeJson(view.json(row)));
        separator = ',\n';
      }
    } finally {
      buffer.add(separator === ',\n' ? '\n]\n' : '[]\n');
      buffer.flush();
    }
    await this.#writer.end();
  }
}
