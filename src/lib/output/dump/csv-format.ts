/** `-o csv` of `ipc dump`: the fields of the JSON entry as columns; lists within a cell are separated by spaces. */

import { csvLine } from '../csv-sink.ts';
import { entryJson } from '../entry-json.ts';
import { EntryFormat } from './entry-format.ts';

const HEADER = [
  'prefix',
  'clusterId',
  'family',
  'identity',
  'scope',
  'labels',
  'labelsFrom',
  'tunnelEndpoint',
  'encryptKey',
  'flags',
  'warnings',
];
const RAW = ['key', 'value'];

export class CsvFormat extends EntryFormat {
  override begin(): void {
    this.appendText(csvLine(this.raw ? [...HEADER, ...RAW] : HEADER));
  }

  entry(keys: Uint8Array, key: number, values: Uint8Array, value: number): void {
    this.entries++;
    const entry = this.decode(keys, key, values, value);
    const raw = this.raw ? this.rawOf(keys, key, values, value) : undefined;
    const json = entryJson(entry, { labels: this.labelsOf?.(entry.identity), raw });
    const cells = [
      json.prefix,
      json.clusterId,
      json.family,
      json.identity,
      json.scope,
      json.labels?.join(' '),
      json.labelsFrom,
      json.tunnelEndpoint,
      json.encryptKey,
      json.flags.join(' '),
      json.warnings?.join(' '),
    ];
    this.appendText(csvLine(this.raw ? [...cells, json.key, json.value] : cells));
  }
}
