/** Deletes what is stale, each entry only as it was when the map was walked, and can put all of it back. */
import { setImmediate } from 'node:timers/promises';
import { errnoOf } from '../bpf/bpf-error.ts';
import { KeyProbe, sameBytes } from '../bpf/key-probe.ts';
import type { BpfMap } from '../bpf/map.ts';
import { isStored } from '../bpf/presence.ts';
import { BPF_NOEXIST } from '../bpf/uapi.ts';
import { Deleter, MOST_AT_ONCE } from '../datapath/compare-before-delete.ts';
import type { MapRows } from './map-rows.ts';

export interface Pace {
  /** Entries a second; absent: as fast as it goes. */
  readonly rate?: number | undefined;
  readonly wait: (ms: number) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((done: number) => void) | undefined;
}

/** `changed`, `absent`: somebody else was there between the walk and now. `left`: a signal came first. */
export type RowOutcome = 'deleted' | 'changed' | 'absent' | 'left';

/** Entries between two turns of other work, without a rate: a millisecond. */
const SLICE_ENTRIES = 512;
const SLICES_A_SECOND = 10;

/** Which rows are in the map still as they were walked; the others were changed or deleted since, and are no garbage. */
export async function stillThere(map: BpfMap, rows: MapRows, indices: readonly number[]): Promise<number[]> {
  const probe = new KeyProbe(map);
  const stored = new Uint8Array(map.info.valueBytes);
  const key = new Uint8Array(map.info.keyBytes);
  const there: number[] = [];
  let looked = 0;
  for (const row of indices) {
    if (++looked % SLICE_ENTRIES === 0) await setImmediate();
    key.set(rows.key(row));
    if (!map.lookup(key, stored) || !sameBytes(stored, rows.value(row))) continue;
    if (probe.byLookup(key) === 'present' || (await isStored(map, key))) there.push(row);
  }
  return there;
}

/** @returns what came of each, in their order. */
export async function deleteRows(
  map: BpfMap,
  rows: MapRows,
  indices: readonly number[],
  { rate, wait, signal, onProgress }: Pace,
): Promise<RowOutcome[]> {
  const deleter = new Deleter(map);
  const { keyBytes, valueBytes } = map.info;
  const keys = new Uint8Array(keyBytes * MOST_AT_ONCE);
  const values = new Uint8Array(valueBytes * MOST_AT_ONCE);
  const slice = rate === undefined ? SLICE_ENTRIES : Math.max(1, Math.floor(rate / SLICES_A_SECOND));
  const outcomes: RowOutcome[] = [];
  for (let from = 0; from < indices.length; ) {
    const count = Math.min(MOST_AT_ONCE, slice, indices.length - from);
    if (from > 0 && from % slice < count) {
      onProgress?.(from);
      await (rate === undefined ? setImmediate() : wait(Math.ceil((slice * 1000) / rate)));
    }
    if (signal?.aborted) break;
    for (let i = 0; i < count; i++) {
      rows.copyTo(indices[from + i] as number, keys, i * keyBytes, values, i * valueBytes);
    }
    const answers = deleter.tryDeleteMany(keys, values, count);
    for (let i = 0; i < count; i++) {
      outcomes.push(answers[i] ?? (await deleter.explain(keys.slice(i * keyBytes, (i + 1) * keyBytes))));
    }
    from += count;
  }
  while (outcomes.length < indices.length) outcomes.push('left');
  return outcomes;
}

/**
 * Writes rows again, over nothing.
 * @param bytesOf what to write; absent: the entry as it was
 * @returns those that were written
 */
export async function putBackRows(
  map: BpfMap,
  rows: MapRows,
  indices: readonly number[],
  bytesOf: (row: number) => Uint8Array = (row) => rows.value(row),
): Promise<Set<number>> {
  const written = new Set<number>();
  for (const row of indices) {
    const key = rows.key(row).slice();
    // Older kernels ignore the flag on tries.
    if (await isStored(map, key)) continue;
    try {
      map.update(key, bytesOf(row).slice(), BPF_NOEXIST);
      written.add(row);
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error;
    }
  }
  return written;
}
