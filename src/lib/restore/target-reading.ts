/** The map that a restore is about to write, read once. */
import type { BpfMap } from '../bpf/map.ts';
import { walkMap } from '../bpf/walk.ts';
import { identityOf } from '../datapath/stored-identity.ts';
import { hasLocalScope, hasRemoteNodeScope } from '../identity/numeric-identity.ts';
import { decodeKey, encodeKey, keyText } from '../ipcache/key.ts';
import { KeyIndex } from '../ipcache/key-index.ts';
import { KEY_BYTES, type Layout } from '../ipcache/layout.ts';
import { listEntries } from '../ipcache/list-entries.ts';
import { soundPrefixLength } from '../ipcache/sound-key.ts';
import type { Prefix } from '../net/prefix.ts';
import { hasTunnelAt } from './entry-class.ts';
import type { Kept } from './kept-entries.ts';
import type { TargetView } from './plan.ts';

export class TargetReading implements TargetView {
  readonly complete: boolean;
  readonly reason: string | undefined;
  readonly numbers: ReadonlyMap<number, number>;
  readonly #map: BpfMap;
  readonly #layout: Layout;
  readonly #index: KeyIndex;
  readonly #identities: readonly number[];
  readonly #key = new Uint8Array(KEY_BYTES);
  readonly #value: Uint8Array;

  constructor(
    map: BpfMap,
    layout: Layout,
    read: {
      /** Canonical keys, and at the same index the identity of each. */
      readonly index: KeyIndex;
      readonly identities: readonly number[];
      readonly numbers: ReadonlyMap<number, number>;
      readonly complete: boolean;
      readonly reason: string | undefined;
    },
  ) {
    this.#map = map;
    this.#layout = layout;
    this.#index = read.index;
    this.#identities = read.identities;
    this.#value = new Uint8Array(layout.value.bytes);
    this.numbers = read.numbers;
    this.complete = read.complete;
    this.reason = read.reason;
  }

  identityOf(prefix: Prefix): number | undefined {
    return this.#identities[this.#index.find(encodeKey(this.#layout, prefix, this.#key))];
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

/** More room than that is not made before it is needed. */
const MOST_RESERVED = 1 << 20;

/** Reads the map. @param source what the source has, to tell which numbers stand elsewhere in the target */
export async function readTarget(
  map: BpfMap,
  layout: Layout,
  source: Kept,
  signal?: AbortSignal,
): Promise<TargetReading> {
  const ofSource = new Map<string, number>();
  source.forEach(({ prefix, identity }) => void ofSource.set(prefix, identity));
  const index = new KeyIndex(Math.min(map.info.maxEntries, MOST_RESERVED));
  const identities: number[] = [];
  const canonical = new Uint8Array(KEY_BYTES);
  const numbers = new Map<number, number>();
  const { complete, reason } = await listEntries(walkMap(map, { signal }), {
    valueBytes: map.info.valueBytes,
    onEntry(keys, key, values, value) {
      const identity = identityOf(layout, values, value);
      const isSound = soundPrefixLength(layout.key, keys, key) >= 0;
      const row = isSound ? index.add(keys, key) : index.add(canonicalKey(layout, keys, key, canonical));
      identities[row] = identity;
      if (!hasLocalScope(identity) && !hasRemoteNodeScope(identity)) return;
      const isElsewhere = ofSource.get(keyText(decodeKey(layout, keys, key), keys, key)) !== identity;
      numbers.set(identity, (numbers.get(identity) ?? 0) + (isElsewhere ? 1 : 0));
    },
  });
  return new TargetReading(map, layout, { index, identities, numbers, complete, reason });
}

/** The key with its host bits cleared: which ones an entry has does not make it another one. Others as they are. */
function canonicalKey(layout: Layout, keys: Uint8Array, key: number, out: Uint8Array<ArrayBuffer>): Uint8Array {
  const { prefix } = decodeKey(layout, keys, key);
  if (prefix !== undefined) return encodeKey(layout, prefix, out);
  out.set(keys.subarray(key, key + KEY_BYTES));
  return out;
}
