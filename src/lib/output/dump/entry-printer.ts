/** Takes the entries of a listing in any number and prints them as they come, sorted, or not at all. */
import { identityOrder, prefixOrder } from '../../ipcache/entry-order.ts';
import { EntryTable } from '../../ipcache/entry-table.ts';
import { KEY_BYTES, type Layout } from '../../ipcache/layout.ts';
import type { DumpEnd, EntryFormat } from './entry-format.ts';
import { ValueFields } from './value-fields.ts';

export type EntrySort = 'prefix' | 'identity';

export interface EntryPrinterOptions {
  readonly format: EntryFormat;
  readonly layout: Layout;
  /** Absent: the order in which entries come. */
  readonly sort?: EntrySort | undefined;
  /** With `sort`: how many there can be. */
  readonly mostEntries: number;
  /** With `sort`: print that many of the sorted ones. */
  readonly limit?: number | undefined;
}

export class EntryPrinter {
  readonly #options: EntryPrinterOptions;
  readonly #table: EntryTable | undefined;
  #begun = false;

  constructor(options: EntryPrinterOptions) {
    this.#options = options;
    this.#table = options.sort && new EntryTable(options.layout.value.bytes, options.mostEntries);
  }

  /** Bound, to be handed to the listing. */
  readonly entry = (keys: Uint8Array, key: number, values: Uint8Array, value: number): void => {
    if (this.#table !== undefined) this.#table.add(keys, key, values, value);
    else this.#print(keys, key, values, value);
  };

  /** Prints what was kept for sorting and the end of the document. */
  end(end: DumpEnd): void {
    const printed = this.#table === undefined ? end.entries : this.#printSorted(this.#table);
    if (!this.#begun) this.#options.format.begin();
    this.#options.format.end({ entries: printed, complete: end.complete });
  }

  /** Ends a document that was begun, after a failure; prints nothing where nothing was. */
  breakOff(entries: number): void {
    if (this.#begun) this.#options.format.end({ entries, complete: false });
  }

  #print(keys: Uint8Array, key: number, values: Uint8Array, value: number): void {
    if (!this.#begun) {
      this.#begun = true;
      this.#options.format.begin(keys.subarray(key));
    }
    this.#options.format.entry(keys, key, values, value);
  }

  #printSorted(table: EntryTable): number {
    const { layout, sort, limit = table.count } = this.#options;
    const fields = new ValueFields(layout);
    const byPrefix = prefixOrder(table, layout);
    const order =
      sort === 'prefix'
        ? byPrefix
        : identityOrder(byPrefix, (entry) => fields.identity(table.values, entry * table.valueBytes));
    const printed = order.subarray(0, limit);
    for (const entry of printed) {
      this.#print(table.keys, entry * KEY_BYTES, table.values, entry * table.valueBytes);
    }
    return printed.length;
  }
}
