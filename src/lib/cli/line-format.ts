import { JsonFormat } from '../output/dump/json-format.ts';
import type { MakeLineFormat } from '../snapshot/table-lines.ts';

/** Entry lines of a snapshot are those of `dump -o ndjson` without labels. */
export const lineFormat: MakeLineFormat = (layout, raw, write) =>
  new JsonFormat({ layout, raw, lines: true, writer: { write, end: async () => {}, abort: () => {} } });
