/** What the map had when it was walked, before anything else was asked: bytes, and a way from a prefix to its row. */
import type { BpfMap } from '../bpf/map.ts';
import { walkMap } from '../bpf/walk.ts';
import { identityOf } from '../datapath/stored-identity.ts';
import { IncompleteError } from '../errors.ts';
import { type IdentityScope, scopeOf } from '../identity/numeric-identity.ts';
import { decodeEntry, type IpcacheEntry } from '../ipcache/entry.ts';
import { EntryTable } from '../ipcache/entry-table.ts';
import { decodeKey, encodeKey, keyClusterId, keyPrefixlen } from '../ipcache/key.ts';
import { KeyIndex } from '../ipcache/key-index.ts';
import { FAMILY_IPV6, KEY_BYTES, type Layout, STATIC_PREFIX_BITS } from '../ipcache/layout.ts';
import { listEntries } from '../ipcache/list-entries.ts';
import { soundPrefixLength } from '../ipcache/sound-key.ts';
import type { Family } from '../net/address.ts';

/** What kind of entry a row is: sources speak for kinds, limits hold for each. */
export interface RowKind {
  readonly scope: IdentityScope;
  readonly family: Family;
  readonly clusterId: number;
}

const SCOPES: readonly IdentityScope[] = ['reserved', 'global', 'local', 'remote-node', 'unknown'];

/** What a kind code stands for. */
export function kindOf(code: number): RowKind {
  return {
    scope: SCOPES[(code & 15) >> 1] ?? 'unknown',
    family: (code & 1) === 0 ? 'ipv4' : 'ipv6',
    clusterId: Math.floor(code / 16),
  };
}

export class MapRows {
  readonly layout: Layout;
  readonly #table: EntryTable;
  readonly #index = new KeyIndex();
  /** Rows whose key is no prefix: nothing that is known by prefixes can speak about them. */
  readonly #odd = new Set<number>();
  readonly #scratch = new Uint8Array(KEY_BYTES);

  constructor(layout: Layout) {
    this.layout = layout;
    this.#table = new EntryTable(layout.value.bytes);
  }

  get count(): number {
    return this.#table.count;
  }

  add(keys: Uint8Array, key: number, values: Uint8Array, value: number): void {
    if (soundPrefixLength(this.layout.key, keys, key) >= 0) {
      this.#index.add(keys, key);
    } else {
      const { prefix } = decodeKey(this.layout, keys, key);
      if (prefix === undefined) this.#odd.add(this.count);
      // An odd key is indexed as it is, so that rows and indices stay the same.
      this.#index.add(prefix === undefined ? keys.subarray(key) : encodeKey(this.layout, prefix, this.#scratch));
    }
    this.#table.add(keys, key, values, value);
  }

  /** @param key canonical. @returns the row, or -1 */
  find(key: Uint8Array): number {
    const row = this.#index.find(key);
    return this.#odd.has(row) ? -1 : row;
  }

  isPrefix(row: number): boolean {
    return !this.#odd.has(row);
  }

  identity(row: number): number {
    return identityOf(this.layout, this.#table.values, row * this.#table.valueBytes);
  }

  /** Address bits of a row that is a prefix. */
  length(row: number): number {
    return keyPrefixlen(this.#table.keys, row * KEY_BYTES) - STATIC_PREFIX_BITS;
  }

  /** A number for each kind of row, which `kindOf` makes words: there are few kinds and many rows. */
  kindCode(row: number): number {
    const key = row * KEY_BYTES;
    const family = this.#table.keys[key + 7] === FAMILY_IPV6 ? 1 : 0;
    const scope = SCOPES.indexOf(scopeOf(this.identity(row)));
    return keyClusterId(this.layout, this.#table.keys, key) * 16 + scope * 2 + family;
  }

  entry(row: number): IpcacheEntry {
    const { keys, values, valueBytes } = this.#table;
    return decodeEntry(this.layout, { keys, keyOffset: row * KEY_BYTES, values, valueOffset: row * valueBytes });
  }

  /** Bytes as stored, host bits included; views that stay valid. */
  key(row: number): Uint8Array {
    return this.#table.keys.subarray(row * KEY_BYTES, (row + 1) * KEY_BYTES);
  }

  value(row: number): Uint8Array {
    const { values, valueBytes } = this.#table;
    return values.subarray(row * valueBytes, (row + 1) * valueBytes);
  }
}

/** Walks the map. @throws {IncompleteError} WALK_INCOMPLETE: what was not seen could not be told from what is stale */
export async function readMapRows(map: BpfMap, layout: Layout, signal?: AbortSignal): Promise<MapRows> {
  const rows = new MapRows(layout);
  const { complete, reason } = await listEntries(walkMap(map, { signal }), {
    valueBytes: map.info.valueBytes,
    onEntry: (keys, key, values, value) => rows.add(keys, key, values, value),
  });
  if (complete) return rows;
  throw new IncompleteError(`Cannot collect garbage in ${map.label}: ${reason ?? 'the walk was cut off'}`, {
    code: 'WALK_INCOMPLETE',
    hint: 'nothing was deleted; run it again when the map changes less',
    operands: { mapId: map.info.id },
  });
}
