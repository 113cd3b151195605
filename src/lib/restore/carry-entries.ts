/** With `--all` onto a map that is there: the entries that rules skip, as far as the target lacks them. */
import type { LayoutError } from '../errors.ts';
import { LayoutError as NotFitting } from '../errors.ts';
import { EntryTable } from '../ipcache/entry-table.ts';
import { decodeKey, keyText } from '../ipcache/key.ts';
import { KEY_BYTES, type Layout } from '../ipcache/layout.ts';
import { EntryConverter } from './convert-entry.ts';
import { hasTunnelAt } from './entry-class.ts';
import type { TargetReading } from './target-reading.ts';

export interface CarriedEntry {
  readonly prefix: string;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

export class CarriedEntries {
  readonly notFitting: { readonly prefix: string; readonly error: LayoutError }[] = [];
  readonly #converter: EntryConverter;
  readonly #from: Layout;
  readonly #to: Layout;
  readonly #table: EntryTable;

  constructor(from: Layout, to: Layout) {
    this.#from = from;
    this.#to = to;
    this.#converter = new EntryConverter(from, to);
    this.#table = new EntryTable(to.value.bytes);
  }

  /** Keeps an entry, in the layout of the target. */
  add(keys: Uint8Array, key: number, values: Uint8Array, value: number): void {
    try {
      const converted = this.#converter.convert(keys, key, values, value);
      this.#table.add(converted.key, 0, converted.value, 0);
    } catch (error) {
      if (!(error instanceof NotFitting)) throw error;
      this.notFitting.push({ prefix: keyText(decodeKey(this.#from, keys, key), keys, key), error });
    }
  }

  /** Those that the target lacks. @returns also those that would hide a tunnel there */
  lacking(target: TargetReading): { readonly lacking: CarriedEntry[]; readonly hiding: string[] } {
    const lacking: CarriedEntry[] = [];
    const hiding: string[] = [];
    const { keys, values, count, valueBytes } = this.#table;
    for (let i = 0; i < count; i++) {
      const key = keys.slice(i * KEY_BYTES, (i + 1) * KEY_BYTES);
      if (target.has(key)) continue;
      const prefix = keyText(decodeKey(this.#to, key), key);
      const hasTunnel = hasTunnelAt(this.#to, values, i * valueBytes);
      if (!hasTunnel && target.wouldHideTunnel(key)) hiding.push(prefix);
      else lacking.push({ prefix, key, value: values.slice(i * valueBytes, (i + 1) * valueBytes) });
    }
    return { lacking, hiding };
  }
}
