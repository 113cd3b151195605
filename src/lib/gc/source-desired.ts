/** A source as the desired state: what it has a record of is wanted, whatever the record says. */
import { prefixTextOf } from '../cache/cache-key.ts';
import { writeEventKey } from '../datapath/event-key.ts';
import { LayoutError } from '../errors.ts';
import type { IdentityScope } from '../identity/numeric-identity.ts';
import { FAMILY_IPV4, FAMILY_IPV6, KEY_BYTES, type Layout, STATIC_PREFIX_BITS } from '../ipcache/layout.ts';
import type { Family } from '../net/address.ts';
import { ADDRESS_AT, RANK } from '../snapshot/entry-row.ts';
import type { ReadOptions, Source, SourceRecord } from '../sources/source.ts';
import type { DesiredState } from './desired.ts';
import type { MapRows } from './map-rows.ts';

const ADDRESS_BYTES = 16;

export class SourceDesired implements DesiredState {
  readonly #source: Source;
  readonly #options: ReadOptions;
  /** What was deleted must be looked for also when the user has ended the run: otherwise all of it would be put back. */
  readonly #lastLook: ReadOptions;
  readonly #key = new Uint8Array(KEY_BYTES);

  constructor(source: Source, options: ReadOptions) {
    this.#source = source;
    this.#options = options;
    this.#lastLook = { timeoutMs: options.timeoutMs, isFresh: true };
  }

  get name(): string {
    return this.#source.name;
  }

  speaksFor(scope: IdentityScope, family: Family, clusterId: number): boolean {
    return this.#source.speaksFor(scope, family, clusterId);
  }

  isUnchanged(): boolean {
    return this.#source.isUnchanged?.() === true;
  }

  prepare(layout: Layout): void {
    if (hasWideClusterId(layout)) this.#source.prepare?.(this.#options);
  }

  /** @param withRecords whether `onWanted` needs them; without, a source may be read faster */
  async read(
    rows: MapRows,
    onWanted: (row: number, record?: SourceRecord) => void,
    withRecords = false,
  ): Promise<number> {
    const read =
      withRecords || !hasWideClusterId(rows.layout) ? undefined : this.#source.readPrefixes?.bind(this.#source);
    if (read !== undefined) {
      const visit = (sortKey: Uint8Array): void => {
        const row = this.#rowOf(rows, sortKey);
        if (row >= 0) onWanted(row);
      };
      return (await read(visit, this.#options)).records;
    }
    const { records } = await this.#source.read(
      (record) => {
        const row = this.#row(rows, prefixTextOf(record.key));
        if (row >= 0) onWanted(row, record);
      },
      withRecords ? this.#lastLook : this.#options,
    );
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

  /** From family, cluster (big endian), address and length to the bytes of a key. */
  #rowOf(rows: MapRows, sortKey: Uint8Array): number {
    const key = this.#key;
    key[0] = STATIC_PREFIX_BITS + (sortKey[ADDRESS_AT + ADDRESS_BYTES] as number);
    key[1] = 0;
    key[2] = 0;
    key[3] = 0;
    key[4] = sortKey[2] as number;
    key[5] = sortKey[1] as number;
    key[6] = 0;
    key[7] = sortKey[0] === RANK.ipv6 ? FAMILY_IPV6 : FAMILY_IPV4;
    for (let i = 0; i < ADDRESS_BYTES; i++) key[8 + i] = sortKey[ADDRESS_AT + i] as number;
    return rows.find(key);
  }
}

/** The key has the cluster ID where the fast way puts it. */
function hasWideClusterId(layout: Layout): boolean {
  return layout.key.clusterId?.offset === 4 && layout.key.clusterId.bytes === 2;
}
