/**
 * The generic batch operations as kernel/bpf/syscall.c does them: one next-key and one lookup per entry, each of which
 * sees the map as it is at that moment. So a test can change the map between any two of them.
 */
import { EINTR, ENOENT } from '../../src/lib/bpf/errno.ts';
import type { BpfAttr } from '../../src/lib/native/attr.ts';
import type { FakeMap } from './fake-map.ts';
import type { TrieKind } from './fake-trie.ts';

/** Offsets in `union bpf_attr`, struct batch. */
const IN_BATCH = 0;
const OUT_BATCH = 8;
const KEYS = 16;
const VALUES = 24;
const COUNT = 32;

/** How often the kernel tried again before 6.14 when a listed key had no value any more. */
const LOOKUP_RETRIES = 3;

/** Called with the entries done so far, once a key is listed and once its value is read. */
export type BatchStep = (step: number, key: Uint8Array, phase: 'listed' | 'read') => void;

export function batchLookup(map: FakeMap, kind: TrieKind, attr: BpfAttr, onStep: BatchStep): number {
  const { keyBytes, valueBytes } = map.spec;
  const room = attr.getU32(COUNT);
  if (room === 0) return 0;
  const keys = attr.pointers.get(KEYS);
  const values = attr.pointers.get(VALUES);
  let previous = attr.pointers.get(IN_BATCH)?.slice(0, keyBytes);
  let errno = 0;
  let retries = LOOKUP_RETRIES;
  let count = 0;
  while (count < room) {
    const key = map.store.nextKey(previous)?.slice();
    if (key === undefined) {
      errno = ENOENT;
      break;
    }
    onStep(count, key, 'listed');
    const value = map.store.lookup(key);
    if (value === undefined && kind === 'before-6.13') {
      if (retries-- > 0) continue;
      errno = EINTR;
      break;
    }
    if (value !== undefined) {
      keys?.set(key, count * keyBytes);
      values?.set(value, count * valueBytes);
      onStep(count, key, 'read');
      count++;
      retries = LOOKUP_RETRIES;
    }
    previous = key;
  }
  attr.u32(COUNT, count);
  if (count > 0 && previous !== undefined) attr.pointers.get(OUT_BATCH)?.set(previous);
  return -errno;
}

/** Update where `values` is given, else delete. @param limit fail with `errno` before this entry. */
export function batchWrite(map: FakeMap, attr: BpfAttr, failure?: { after: number; errno: number }): number {
  const { keyBytes, valueBytes } = map.spec;
  const room = attr.getU32(COUNT);
  const keys = attr.pointers.get(KEYS) ?? new Uint8Array(0);
  const values = attr.pointers.get(VALUES);
  let errno = 0;
  let count = 0;
  for (; count < room; count++) {
    const key = keys.subarray(count * keyBytes, (count + 1) * keyBytes);
    if (failure?.after === count) errno = failure.errno;
    else if (values === undefined) errno = map.store.delete(key);
    else errno = map.store.update(key, values.subarray(count * valueBytes, (count + 1) * valueBytes));
    if (errno !== 0) break;
  }
  attr.u32(COUNT, count);
  return -errno;
}
