/** A map of the fake kernel: what BPF_MAP_CREATE asked for, and the store behind it. */
import { EEXIST, EINVAL, ENOENT, ENOSPC } from '../../src/lib/bpf/errno.ts';
import {
  BPF_EXIST,
  BPF_F_NO_PREALLOC,
  BPF_MAP_TYPE_HASH,
  BPF_MAP_TYPE_LPM_TRIE,
  BPF_NOEXIST,
} from '../../src/lib/bpf/uapi.ts';
import { FakeTrie, type TrieKind } from './fake-trie.ts';

export interface FakeMapSpec {
  readonly type: number;
  readonly keyBytes: number;
  readonly valueBytes: number;
  readonly maxEntries: number;
  readonly flags: number;
  readonly name: string;
}

/** What a map type does with elements; numbers are 0 or an errno. */
export interface FakeStore {
  readonly size: number;
  lookup(key: Uint8Array): Uint8Array | undefined;
  update(key: Uint8Array, value: Uint8Array, flags?: number): number;
  delete(key: Uint8Array): number;
  nextKey(previous: Uint8Array | undefined): Uint8Array | undefined;
}

export class FakeMap {
  readonly id: number;
  readonly spec: FakeMapSpec;
  readonly store: FakeStore;
  frozen = false;

  constructor(id: number, spec: FakeMapSpec, store: FakeStore) {
    this.id = id;
    this.spec = spec;
    this.store = store;
  }

  /** Every entry in the map's order, as `key value` in hex. */
  list(): string[] {
    const entries: string[] = [];
    for (let key = this.store.nextKey(undefined); key !== undefined; key = this.store.nextKey(key)) {
      entries.push(`${hex(key)} ${hex(this.store.lookup(key))}`);
    }
    return entries;
  }
}

/** @returns the store, or the errno with which the kernel refuses such a map. */
export function makeStore(spec: FakeMapSpec, kind: TrieKind): FakeStore | number {
  if (spec.maxEntries === 0 || spec.valueBytes === 0) return EINVAL;
  if (spec.type === BPF_MAP_TYPE_LPM_TRIE) {
    if ((spec.flags & BPF_F_NO_PREALLOC) === 0 || spec.keyBytes < 5 || spec.keyBytes > 260) return EINVAL;
    return new FakeTrie({ kind, keyBytes: spec.keyBytes, maxEntries: spec.maxEntries });
  }
  return spec.type === BPF_MAP_TYPE_HASH && spec.keyBytes > 0 ? new FakeHash(spec.maxEntries) : EINVAL;
}

class FakeHash implements FakeStore {
  readonly #entries = new Map<string, { key: Uint8Array; value: Uint8Array }>();
  readonly #maxEntries: number;

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get size(): number {
    return this.#entries.size;
  }

  lookup(key: Uint8Array): Uint8Array | undefined {
    return this.#entries.get(hex(key))?.value;
  }

  update(key: Uint8Array, value: Uint8Array, flags = 0): number {
    const there = this.#entries.has(hex(key));
    if (flags > BPF_EXIST) return EINVAL;
    if (there && flags === BPF_NOEXIST) return EEXIST;
    if (!there && flags === BPF_EXIST) return ENOENT;
    if (!there && this.#entries.size === this.#maxEntries) return ENOSPC;
    this.#entries.set(hex(key), { key: key.slice(), value: value.slice() });
    return 0;
  }

  delete(key: Uint8Array): number {
    return this.#entries.delete(hex(key)) ? 0 : ENOENT;
  }

  nextKey(previous: Uint8Array | undefined): Uint8Array | undefined {
    const keys = [...this.#entries.values()].map(({ key }) => key);
    const at = previous === undefined ? -1 : keys.findIndex((key) => hex(key) === hex(previous));
    return keys[at + 1];
  }
}

function hex(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? []).toString('hex');
}
