import type { OutputFormat } from '../format.ts';
import { BpftoolFormat } from './bpftool-format.ts';
import { CiliumFormat } from './cilium-format.ts';
import { CsvFormat } from './csv-format.ts';
import type { EntryFormat } from './entry-format.ts';
import { JsonFormat, type JsonFormatOptions } from './json-format.ts';
import { TableFormat } from './table-format.ts';

/** The way entries are printed in a format. @param options `lines` is set here. */
export function createEntryFormat(format: OutputFormat, options: JsonFormatOptions): EntryFormat {
  switch (format) {
    case 'table':
      return new TableFormat(options);
    case 'json':
      return new JsonFormat(options);
    case 'ndjson':
      return new JsonFormat({ ...options, lines: true });
    case 'csv':
      return new CsvFormat(options);
    case 'cilium':
      return new CiliumFormat(options);
    case 'bpftool':
      return new BpftoolFormat(options);
  }
}
