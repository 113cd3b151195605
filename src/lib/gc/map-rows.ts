/** What the map had when it was walked, before anything else was asked: bytes, and a way from a prefix to its row. */
import type { BpfMap } from '../bpf/map.ts';
import { walkMap } from '../bpf/walk.ts';
import { identityOf } from '../datapath/stored-identity.ts';
import { IncompleteError } from '../errors.ts';
import { type IdentityScope, MIN_GLOBAL, scopeOf } from '../identity/numeric-identity.ts';
import { decodeEntry, type IpcacheEntry } from '../ipcache/entry.ts';
import { decodeKey, encodeKey, keyClusterId, keyPrefixlen } from '../ipcache/key.ts';
import { KeyIndex } from '../ipcache/key-index.ts';
import { FAMILY_IPV6, KEY_BYTES, type Layout, STATIC_PREFIX_BITS } from '../ipcache/layout.ts';
import { listEntries } from '../ipcache/list-entries.ts';
import { soundPrefixLength } from '../ipcache/sound-key.ts';
import { storedText } from '../ipcache/stored-text.ts';
import type { Family } from '../net/address.ts';

/** What kind of entry a row is: sources speak for kinds, limits hold for each. */
export interface RowKind {
  readonly scope: IdentityScope;
  readonly family: Family;
  readonly clusterId: number;
}

/** Rows to reserve room for, whatever a map says that it could hold. */
const MOST_RESERVED = 1 << 20;
const FIRST_LOCAL = 0x01000000;
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
  readonly #valueBytes: number;
  /** Canonical keys; a row is the index of its key. */
  readonly #index: KeyIndex;
  #values: Uint8Array;
  /** Keys as stored, of rows that are spelled otherwise: with host bits, or no prefix at all. */
  readonly #stored = new Map<number, Uint8Array>();
  /** Rows whose key is no prefix: nothing that is known by prefixes can speak about them. */
  readonly #odd = new Set<number>();
  /** The row that was found last. */
  #found = -1;

  /** @param most how many rows there can be; it may still be more */
  constructor(layout: Layout, most = 1024) {
    this.layout = layout;
    this.#valueBytes = layout.value.bytes;
    this.#index = new KeyIndex(most);
    this.#values = new Uint8Array(most * this.#valueBytes);
  }

  get count(): number {
    return this.#index.count;
  }

  add(keys: Uint8Array, key: number, values: Uint8Array, value: number): void {
    const row = this.count;
    if (soundPrefixLength(this.layout.key, keys, key) >= 0) this.#index.add(keys, key);
    else this.#addOther(row, keys.slice(key, key + KEY_BYTES));
    const at = row * this.#valueBytes;
    if (at === this.#values.length) this.#values = doubled(this.#values);
    for (let i = 0; i < this.#valueBytes; i++) this.#values[at + i] = values[value + i] as number;
  }

  #addOther(row: number, stored: Uint8Array): void {
    const { prefix } = decodeKey(this.layout, stored);
    this.#stored.set(row, stored);
    if (prefix === undefined) this.#odd.add(row);
    // An odd key is indexed as it is, so that rows and indices stay the same.
    this.#index.add(prefix === undefined ? stored : encodeKey(this.layout, prefix));
  }

  /** @param key canonical. @returns the row, or -1 */
  find(key: Uint8Array): number {
    // Who asks in the order of addresses asks nearly in that of the map.
    const row = this.#index.find(key, 0, this.#found);
    if (row >= 0) this.#found = row;
    return this.#odd.size > 0 && this.#odd.has(row) ? -1 : row;
  }

  isPrefix(row: number): boolean {
    return this.#odd.size === 0 || !this.#odd.has(row);
  }

  identity(row: number): number {
    return identityOf(this.layout, this.#values, row * this.#valueBytes);
  }

  /** Address bits of a row that is a prefix. */
  length(row: number): number {
    return keyPrefixlen(this.#index.keys, row * KEY_BYTES) - STATIC_PREFIX_BITS;
  }

  /** A number for each kind of row, which `kindOf` makes words: there are few kinds and many rows. */
  kindCode(row: number): number {
    const key = row * KEY_BYTES;
    const family = this.#index.keys[key + 7] === FAMILY_IPV6 ? 1 : 0;
    const identity = this.identity(row);
    const scope = identity < MIN_GLOBAL ? 0 : identity < FIRST_LOCAL ? 1 : SCOPES.indexOf(scopeOf(identity));
    return keyClusterId(this.layout, this.#index.keys, key) * 16 + scope * 2 + family;
  }

  /** How many of the rows there are of each kind code. */
  countKinds(rows: readonly number[]): Map<number, number> {
    const counts = new Map<number, number>();
    // Neighbours are of one kind nearly always.
    let code = -1;
    let count = 0;
    for (const row of rows) {
      const next = this.kindCode(row);
      if (next !== code) {
        if (count > 0) counts.set(code, (counts.get(code) ?? 0) + count);
        code = next;
        count = 0;
      }
      count++;
    }
    if (count > 0) counts.set(code, (counts.get(code) ?? 0) + count);
    return counts;
  }

  /** As the entry's `prefix`, without the rest of the entry. */
  prefixText(row: number): string {
    const stored = this.#stored.get(row);
    if (stored !== undefined) return storedText(this.layout, stored, 0);
    return storedText(this.layout, this.#index.keys, row * KEY_BYTES);
  }

  entry(row: number): IpcacheEntry {
    const stored = this.#stored.get(row);
    const keys = stored ?? this.#index.keys;
    const keyOffset = stored === undefined ? row * KEY_BYTES : 0;
    return decodeEntry(this.layout, { keys, keyOffset, values: this.#values, valueOffset: row * this.#valueBytes });
  }

  /** Bytes as stored, host bits included; views that stay valid. */
  key(row: number): Uint8Array {
    return this.#stored.get(row) ?? this.#index.keys.subarray(row * KEY_BYTES, (row + 1) * KEY_BYTES);
  }

  /** Copies key and value, for loops over many rows. */
  copyTo(row: number, key: Uint8Array, keyAt: number, value: Uint8Array, valueAt: number): void {
    const stored = this.#stored.get(row);
    const keys = stored ?? this.#index.keys;
    const from = stored === undefined ? row * KEY_BYTES : 0;
    for (let i = 0; i < KEY_BYTES; i++) key[keyAt + i] = keys[from + i] as number;
    const at = row * this.#valueBytes;
    for (let i = 0; i < this.#valueBytes; i++) value[valueAt + i] = this.#values[at + i] as number;
  }

  value(row: number): Uint8Array {
    return this.#values.subarray(row * this.#valueBytes, (row + 1) * this.#valueBytes);
  }
}

function doubled(bytes: Uint8Array): Uint8Array {
  const larger = new Uint8Array(bytes.length * 2);
  larger.set(bytes);
  return larger;
}

/** Walks the map. @throws {IncompleteError} WALK_INCOMPLETE: what was not seen could not be told from what is stale */
export async function readMapRows(map: BpfMap, layout: Layout, signal?: AbortSignal): Promise<MapRows> {
  const rows = new MapRows(layout, Math.min(map.info.maxEntries, MOST_RESERVED));
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
