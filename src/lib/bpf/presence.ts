/** Whether exactly this key is stored, always with an answer. */
import { IncompleteError } from '../errors.ts';
import { compareLpmKeys } from '../net/lpm-order.ts';
import { KeyProbe } from './key-probe.ts';
import type { BpfMap } from './map.ts';
import { type WalkBatch, type WalkOptions, walkMap } from './walk.ts';

/**
 * Two lookups decide, unless the next wider entry has an equal value; then next-key does on kernels since 6.13, and on
 * others a walk up to the key's place.
 * @param key of the map's length; host bits do not count. A prefixlen beyond the key's bits is never stored.
 * @throws {IncompleteError} where that walk was cut short. @throws {NotPermittedError}
 */
export async function isStored(map: BpfMap, key: Uint8Array, options: WalkOptions = {}): Promise<boolean> {
  const probe = new KeyProbe(map);
  let presence = probe.byLookup(key);
  if (presence === 'undecided') presence = await probe.byListing(key);
  if (presence !== 'undecided') return presence === 'present';
  const [stored] = await findStored(map, [key], options);
  return stored === true;
}

/**
 * Which of the keys are stored, by one walk that ends at the last key's place.
 * @param keys in listing order. @returns one answer for each. @throws {IncompleteError} where the walk was cut short.
 */
export async function findStored(
  map: BpfMap,
  keys: readonly Uint8Array[],
  options: WalkOptions = {},
): Promise<boolean[]> {
  const stored = keys.map(() => false);
  const walk = walkMap(map, options);
  let at = 0;
  for (;;) {
    const step = await walk.next();
    if (step.done === true) {
      if (step.value.complete) return stored;
      throw new IncompleteError(`Cannot tell which keys ${map.label} has: ${step.value.reason}`, { hint: 'try again' });
    }
    at = mark(step.value, map.info.keyBytes, { keys, stored, at });
    if (at === keys.length) {
      await walk.return({ complete: false, entries: 0, restarts: 0 });
      return stored;
    }
  }
}

/** Merges a batch with the keys from `at` on. @returns the first key that is listed after the batch. */
function mark(
  batch: WalkBatch,
  keyBytes: number,
  wanted: { keys: readonly Uint8Array[]; stored: boolean[]; at: number },
): number {
  const { keys, stored } = wanted;
  let { at } = wanted;
  for (let i = batch.firstNew; i < batch.count && at < keys.length; i++) {
    for (let key = keys[at]; key !== undefined; key = keys[++at]) {
      const order = compareLpmKeys(key, 0, batch.keys, i * keyBytes, keyBytes - 4);
      if (order === 0) stored[at] = true;
      if (order > 0) break;
    }
  }
  return at;
}
