/** The map that a restore is about to write, read once. */
import type { BpfMap } from '../bpf/map.ts';
import { walkMap } from '../bpf/walk.ts';
import { identityOf } from '../datapath/stored-identity.ts';
import { hasLocalScope, hasRemoteNodeScope } from '../identity/numeric-identity.ts';
import { EntryTable } from '../ipcache/entry-table.ts';
import { decodeKey, encodeKey, keyText } from '../ipcache/key.ts';
import { KEY_BYTES, type Layout } from '../ipcache/layout.ts';
import { listEntries } from '../ipcache/list-entries.ts';
import type { Prefix } from '../net/prefix.ts';
import { hasTunnelAt } from './entry-class.ts';
import type { Kept } from './kept-entries.ts';
import { KeyIndex } from './key-index.ts';
import type { TargetView } from './plan.ts';

export class TargetReading implements TargetView {
  readonly complete: boolean;
  readonly reason: string | undefined;
  readonly numbers: ReadonlyMap<number, number>;
  readonly #map: BpfMap;
  readonly #layout: Layout;
  readonly #table: EntryTable;
  readonly #index: KeyIndex;
  readonly #key = new Uint8Array(KEY_BYTES);
  readonly #value: Uint8Array;

  constructor(
    map: BpfMap,
    layout: Layout,
    read: {
      readonly table: EntryTable;
      readonly numbers: ReadonlyMap<number, number>;
      readonly complete: boolean;
      readonly reason: string | undefined;
    },
  ) {
    this.#map = map;
    this.#layout = layout;
    this.#table = read.table;
    this.#index = new KeyIndex(read.table, layout);
    this.#value = new Uint8Array(layout.value.bytes);
    this.numbers = read.numbers;
    this.complete = read.complete;
    this.reason = read.reason;
  }

  /** Entries that were read. */
  get entries(): number {
    return this.#table.count;
  }

  identityOf(prefix: Prefix): number | undefined {
    const row = this.#index.find(encodeKey(this.#layout, prefix, this.#key));
    return row < 0 ? undefined : identityOf(this.#layout, this.#table.values, row * this.#table.valueBytes);
  }

  /** Whether the entry with exactly this key, of the target's layout, was there. */
  has(key: Uint8Array): boolean {
    return this.#index.find(key) >= 0;
  }

  wouldLoseTunnel(prefix: Prefix): boolean {
    return this.wouldHideTunnel(encodeKey(this.#layout, prefix, this.#key));
  }

  /** As `wouldLoseTunnel`, by key: asked of the map itself, whose answer is that of the datapath. */
  wouldHideTunnel(key: Uint8Array): boolean {
    if (!this.#map.lookup(key, this.#value)) return false;
    const { encryptKey } = this.#layout.value;
    return hasTunnelAt(this.#layout, this.#value, 0) || (encryptKey !== undefined && this.#value[encryptKey] !== 0);
  }
}

/** Reads the map. @param source what the source has, to tell which numbers stand elsewhere in the target */
export async function readTarget(
  map: BpfMap,
  layout: Layout,
  source: Kept,
  signal?: AbortSignal,
): Promise<TargetReading> {
  const ofSource = new Map<string, number>();
  source.forEach(({ prefix, identity }) => void ofSource.set(prefix, identity));
  const table = new EntryTable(map.info.valueBytes, map.info.maxEntries);
  const numbers = new Map<number, number>();
  const { complete, reason } = await listEntries(walkMap(map, { signal }), {
    valueBytes: map.info.valueBytes,
    onEntry(keys, key, values, value) {
      table.add(keys, key, values, value);
      const identity = identityOf(layout, values, value);
      if (!hasLocalScope(identity) && !hasRemoteNodeScope(identity)) return;
      const isElsewhere = ofSource.get(keyText(decodeKey(layout, keys, key), keys, key)) !== identity;
      numbers.set(identity, (numbers.get(identity) ?? 0) + (isElsewhere ? 1 : 0));
    },
  });
  return new TargetReading(map, layout, { table, numbers, complete, reason });
}
