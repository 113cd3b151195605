/** The cache as the desired state of garbage collection. */
import { setImmediate } from 'node:timers/promises';
import { prefixTextOf } from '../cache/cache-key.ts';
import type { Ipcache } from '../cache/ipcache.ts';
import type { IpcacheListener } from '../cache/listener.ts';
import { lookupKey } from '../cache/lookup.ts';
import { writeEventKey } from '../datapath/event-key.ts';
import { LayoutError } from '../errors.ts';
import type { DesiredState } from '../gc/desired.ts';
import type { MapRows } from '../gc/map-rows.ts';
import { type IdentityScope, scopeOf } from '../identity/numeric-identity.ts';
import { KEY_BYTES } from '../ipcache/layout.ts';
import type { Family } from '../net/address.ts';
import { Coverage } from '../sources/coverage.ts';
import type { SourceGroup } from './source-group.ts';

const TURN_ENTRIES = 1024;

export class CacheDesired implements DesiredState {
  readonly name = 'this listen';
  readonly #cache: Ipcache;
  readonly #sources: SourceGroup;
  readonly #key = new Uint8Array(KEY_BYTES);
  /** Numbers that were given away here: what the cache has of that kind is all there is. */
  #given = new Coverage();

  constructor(cache: Ipcache, sources: SourceGroup) {
    this.#cache = cache;
    this.#sources = sources;
  }

  speaksFor(scope: IdentityScope, family: Family, clusterId: number): boolean {
    return (
      this.#given.has(scope, family, clusterId) ||
      this.#sources.members.some(({ source }) => source.speaksFor(scope, family, clusterId))
    );
  }

  async read(rows: MapRows, onWanted: (row: number) => void): Promise<number> {
    const given = new Coverage();
    let seen = 0;
    for (const [key, { identity }] of this.#cache.entries.entries()) {
      if (++seen % TURN_ENTRIES === 0) await setImmediate();
      const scope = scopeOf(identity);
      if (scope === 'local' || scope === 'remote-node') given.add(key, identity);
      const row = this.#row(rows, prefixTextOf(key));
      if (row >= 0) onWanted(row);
    }
    this.#given = given;
    return seen;
  }

  /** What the cache has for the prefix of a row, once more to the listener. */
  tellAgain(rows: MapRows, row: number, listener: IpcacheListener): void {
    const { prefix } = rows.entry(row);
    const match = lookupKey(this.#cache, prefix);
    if (match !== undefined) listener.onIpcacheEvent({ kind: 'upsert', prefix, entry: match.entry, old: undefined });
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
