/** The entries of one policy map, trie or hash. */
import type { BpfMap } from '../bpf/map.ts';
import { BPF_MAP_TYPE_HASH, BPF_MAP_TYPE_LPM_TRIE } from '../bpf/uapi.ts';
import { walkMap } from '../bpf/walk.ts';
import { HASH_KEY, MIN_VALUE_BYTES, type PolicyKeyLayout, TRIE_KEY } from './policy-rule.ts';

/** Called with the places of key and value; the buffers are reused. */
export type EntryVisitor = (keys: Uint8Array, keyAt: number, values: Uint8Array, valueAt: number) => void;

/** The layout of a policy map by its type and sizes. @returns undefined for any other map */
export function policyKeyLayout({ info }: Pick<BpfMap, 'info'>): PolicyKeyLayout | undefined {
  if (info.valueBytes < MIN_VALUE_BYTES) return undefined;
  if (info.type === BPF_MAP_TYPE_LPM_TRIE && info.keyBytes === TRIE_KEY.keyBytes) return TRIE_KEY;
  return info.type === BPF_MAP_TYPE_HASH && info.keyBytes === HASH_KEY.keyBytes ? HASH_KEY : undefined;
}

/**
 * Visits every entry once.
 * @returns why not all of them were reached; undefined when they were
 */
export async function walkPolicyMap(
  map: BpfMap,
  visit: EntryVisitor,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  return map.info.type === BPF_MAP_TYPE_HASH ? walkHash(map, visit) : walkTrie(map, visit, signal);
}

async function walkTrie(
  map: BpfMap,
  visit: EntryVisitor,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const { keyBytes, valueBytes } = map.info;
  const walk = walkMap(map, { signal });
  for (let step = await walk.next(); ; step = await walk.next()) {
    if (step.done) return step.value.reason;
    const { keys, values, count, firstNew } = step.value;
    for (let i = firstNew; i < count; i++) visit(keys, i * keyBytes, values, i * valueBytes);
  }
}

/** Next-key of a deleted key starts over in a hash map, so what was seen is remembered and the turns are counted. */
function walkHash(map: BpfMap, visit: EntryVisitor): string | undefined {
  const value = new Uint8Array(map.info.valueBytes);
  const seen = new Set<string>();
  let previous: Uint8Array | undefined;
  for (let turns = 0; turns <= 4 * map.info.maxEntries; turns++) {
    const key = new Uint8Array(map.info.keyBytes);
    if (!map.nextKey(previous, key)) return undefined;
    previous = key;
    const text = Buffer.from(key).toString('latin1');
    if (seen.has(text) || !map.lookup(key, value)) continue;
    seen.add(text);
    visit(key, 0, value, 0);
  }
  return 'the map changed faster than it could be read';
}
