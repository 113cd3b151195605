/** With `--all` onto a map that is there, or into one that is only planned: the entries that rules skip, as far as the target lacks them. */
import { identityOf } from '../datapath/stored-identity.ts';
import { LayoutError } from '../errors.ts';
import { EntryTable } from '../ipcache/entry-table.ts';
import { decodeKey, keyText } from '../ipcache/key.ts';
import { KEY_BYTES, type Layout } from '../ipcache/layout.ts';
import { EntryConverter } from './convert-entry.ts';
import { hasTunnelAt } from './entry-class.ts';
import type { NotFitting } from './fill-new-map.ts';
import type { TargetReading } from './target-reading.ts';

export interface CarriedEntry {
  readonly prefix: string;
  readonly identity: number;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

export class CarriedEntries {
  readonly notFitting: NotFitting[] = [];
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
      if (!(error instanceof LayoutError)) throw error;
      const identity = identityOf(this.#from, values, value);
      this.notFitting.push({ prefix: keyText(decodeKey(this.#from, keys, key), keys, key), identity, error });
    }
  }

  /** Entries that fit. */
  get count(): number {
    return this.#table.count;
  }

  /** Those that the target lacks. @returns also those that would hide a tunnel there */
  lacking(target: TargetReading): { readonly lacking: CarriedEntry[]; readonly hiding: CarriedEntry[] } {
    const lacking: CarriedEntry[] = [];
    const hiding: CarriedEntry[] = [];
    const { keys, values, count, valueBytes } = this.#table;
    for (let i = 0; i < count; i++) {
      const key = keys.slice(i * KEY_BYTES, (i + 1) * KEY_BYTES);
      if (target.has(key)) continue;
      const value = values.slice(i * valueBytes, (i + 1) * valueBytes);
      const prefix = keyText(decodeKey(this.#to, key), key);
      const isHiding = !hasTunnelAt(this.#to, value, 0) && target.wouldHideTunnel(key);
      (isHiding ? hiding : lacking).push({ prefix, identity: identityOf(this.#to, value), key, value });
    }
    return { lacking, hiding };
  }
}
