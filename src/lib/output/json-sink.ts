import type { ByteWriter } from './byte-writer.ts';
import { safeJson } from './escape.ts';
import { LineBuffer } from './line-buffer.ts';
import type { Sink } from './sink.ts';
import { JsonItems, type JsonObject, type ListView, type ReportView } from './view.ts';

export const REPORT_SCHEMA_VERSION = 1;

/** Adds the report as one line of JSON, long lists item by item. */
export function addReport<Model>(view: ReportView<Model>, model: Model, buffer: LineBuffer): void {
  let separator = '{';
  const fields: JsonObject = { kind: view.kind, schemaVersion: REPORT_SCHEMA_VERSION, ...view.json(model) };
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    buffer.add(`${separator}${safeJson(name)}:`);
    if (value instanceof JsonItems) addItems(value, buffer);
    else buffer.add(safeJson(value));
    separator = ',';
  }
  buffer.add('}\n');
}

function addItems(items: Iterable<JsonObject>, buffer: LineBuffer): void {
  let separator = '[';
  for (const item of items) {
    buffer.add(separator + safeJson(item));
    separator = ',';
  }
  buffer.add(separator === '[' ? '[]' : ']');
}

/** `-o json`: always one well-formed document. */
export class JsonSink implements Sink {
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
