/**
 * What an entry has to be that was deleted and is wanted again. Nearly always as it was; but between the comparison and
 * the delete it may have been given another number, and then the old one would be a lie.
 */
import { sourceRank } from '../cache/source-rank.ts';
import { numericIdentity } from '../identity/numeric-identity.ts';
import { decodeValue, encodeValue, newRemoteEndpointInfo } from '../ipcache/remote-endpoint-info.ts';
import { parseAddress } from '../net/address.ts';
import type { SourceRecord } from '../sources/source.ts';
import type { MapRows } from './map-rows.ts';

/** Of several records of one prefix the one whose source is the strongest. */
export class StrongestRecords {
  readonly #rows: ReadonlySet<number>;
  readonly #records = new Map<number, SourceRecord>();

  /** @param rows the only ones that count */
  constructor(rows: ReadonlySet<number>) {
    this.#rows = rows;
  }

  add(row: number, record: SourceRecord): void {
    if (record.identity === undefined || !this.#rows.has(row)) return;
    const present = this.#records.get(row);
    if (present === undefined || sourceRank(record.source) < sourceRank(present.source)) this.#records.set(row, record);
  }

  /** Bytes of the value: those of the row unless the record has another identity. */
  value(rows: MapRows, row: number): Uint8Array {
    const record = this.#records.get(row);
    const identity = record?.identity;
    if (record === undefined || identity === undefined || identity === 0 || identity === rows.identity(row)) {
      return rows.value(row);
    }
    const { layout } = rows;
    const before = decodeValue(layout, rows.value(row));
    // Only a source that describes a map knows the rest of the entry; otherwise the prefix has moved its number, not itself.
    if (record.flags === undefined) return encodeValue(layout, { ...before, identity: numericIdentity(identity) });
    const tunnel = record.tunnelEndpoint === undefined ? undefined : parseAddress(record.tunnelEndpoint);
    return encodeValue(
      layout,
      newRemoteEndpointInfo(layout, {
        identity: numericIdentity(identity),
        encryptKey: record.encryptKey ?? 0,
        flags: record.flags,
        ...(tunnel && { tunnel }),
      }),
    );
  }
}
