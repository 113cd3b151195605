/** A source as the desired state: what it has a record of is wanted, whatever the record says. */
import { prefixTextOf } from '../cache/cache-key.ts';
import { writeEventKey } from '../datapath/event-key.ts';
import { LayoutError } from '../errors.ts';
import type { IdentityScope } from '../identity/numeric-identity.ts';
import { KEY_BYTES } from '../ipcache/layout.ts';
import type { Family } from '../net/address.ts';
import type { ReadOptions, Source, SourceRecord } from '../sources/source.ts';
import type { DesiredState } from './desired.ts';
import type { MapRows } from './map-rows.ts';

export class SourceDesired implements DesiredState {
  readonly #source: Source;
  readonly #options: ReadOptions;
  readonly #key = new Uint8Array(KEY_BYTES);

  constructor(source: Source, options: ReadOptions) {
    this.#source = source;
    this.#options = options;
  }

  get name(): string {
    return this.#source.name;
  }

  speaksFor(scope: IdentityScope, family: Family, clusterId: number): boolean {
    return this.#source.speaksFor(scope, family, clusterId);
  }

  async read(rows: MapRows, onWanted: (row: number, record: SourceRecord) => void): Promise<number> {
    const { records } = await this.#source.read((record) => {
      const row = this.#row(rows, prefixTextOf(record.key));
      if (row >= 0) onWanted(row, record);
    }, this.#options);
    return records;
  }

  #row(rows: MapRows, prefix: string): number {
    try {
      writeEventKey(rows.layout, prefix, this.#key);
    } catch (error) {
      // The layout has no such cluster, so neither has the map.
      if (error instanceof LayoutError) return -1;
      throw error;
    }
    return rows.find(this.#key);
  }
}
