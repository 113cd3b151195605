/** What the map should have, as far as garbage collection asks: which of its rows somebody still wants. */
import type { IdentityScope } from '../identity/numeric-identity.ts';
import type { Layout } from '../ipcache/layout.ts';
import type { Family } from '../net/address.ts';
import type { SourceRecord } from '../sources/source.ts';
import type { MapRows } from './map-rows.ts';

export interface DesiredState {
  /** To follow *not in*: `snapshot:FILE`. */
  readonly name: string;
  /** Whether the absence of an entry of this kind means anything. Rests on the latest reading. */
  speaksFor(scope: IdentityScope, family: Family, clusterId: number): boolean;
  /** Whether a reading now is certain to be the same as the latest; absent: it never is. */
  isUnchanged?(): boolean;
  /** Begins what the first reading can use, if it is certain then that nothing has changed; the map is walked meanwhile. */
  prepare?(layout: Layout): void;
  /**
   * One complete reading.
   * @param onWanted called for every row that is wanted
   * @param withRecords also with the record that says so, where there is one
   * @returns how many things it wants, also such as are not in the map
   * @throws {UnreachableError} not to be reached, or not synced in time
   */
  read(rows: MapRows, onWanted: (row: number, record?: SourceRecord) => void, withRecords?: boolean): Promise<number>;
}
