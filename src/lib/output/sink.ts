/** Where a command hands its results; one implementation per format, chosen before the command runs. */
import type { ByteWriter } from './byte-writer.ts';
import { CsvSink } from './csv-sink.ts';
import type { OutputFormat } from './format.ts';
import { JsonSink } from './json-sink.ts';
import { NdjsonSink } from './ndjson-sink.ts';
import type { Paint } from './paint.ts';
import { TextSink } from './text-sink.ts';
import type { ListView, ReportView } from './view.ts';

export interface Sink {
  /** Prints one result and completes the output. */
  report<Model>(view: ReportView<Model>, model: Model): Promise<void>;
  /** Prints rows as they come and completes the output; what was begun is well-formed even when the rows end early. */
  list<Row>(view: ListView<Row>, rows: Iterable<Row> | AsyncIterable<Row>): Promise<void>;
}

/** The sink for the formats that every command can have; `cilium` and `bpftool` belong to `dump` alone. */
export function createSink(format: OutputFormat, writer: ByteWriter, paint: () => Paint): Sink {
  switch (format) {
    case 'table':
      return new TextSink(writer, paint);
    case 'json':
      return new JsonSink(writer);
    case 'ndjson':
      return new NdjsonSink(writer);
    case 'csv':
      return new CsvSink(writer);
    case 'cilium':
    case 'bpftool':
      throw new Error(`no sink for ${format}`);
  }
}
