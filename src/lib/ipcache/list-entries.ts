/** The loop of every listing: the walk of a map, a filter, and whatever is done with the bytes of an entry. */
import type { WalkBatch, WalkResult } from '../bpf/walk.ts';
import type { EntryPredicate } from './entry-filter.ts';
import { KEY_BYTES } from './layout.ts';

export interface ListOptions {
  readonly valueBytes: number;
  /** Absent: every entry. */
  readonly accepts?: EntryPredicate | undefined;
  /** Stop after that many. */
  readonly limit?: number | undefined;
  /** The offsets are where key and value of the entry begin; the buffers are reused after the call. */
  onEntry(keys: Uint8Array, key: number, values: Uint8Array, value: number): void;
  /** After every batch, with how many entries the walk has seen. */
  onProgress?(seen: number): void;
}

export interface Listing {
  /** Entries that were passed on. */
  readonly entries: number;
  /** The walk covered the map, or the limit cut it off. */
  readonly complete: boolean;
  /** Why the walk did not cover the map. */
  readonly reason?: string | undefined;
}

/** Runs a walk to its end or the limit. */
export async function listEntries(walk: AsyncGenerator<WalkBatch, WalkResult>, options: ListOptions): Promise<Listing> {
  const { valueBytes, accepts, limit = Number.POSITIVE_INFINITY, onEntry, onProgress } = options;
  let entries = 0;
  let seen = 0;
  if (limit === 0) return { entries, complete: true };
  for (let step = await walk.next(); ; step = await walk.next()) {
    if (step.done) return { entries, complete: step.value.complete, reason: step.value.reason };
    const { keys, values, count, firstNew } = step.value;
    for (let i = firstNew; i < count; i++) {
      const key = i * KEY_BYTES;
      const value = i * valueBytes;
      if (accepts !== undefined && !accepts(keys, key, values, value)) continue;
      onEntry(keys, key, values, value);
      if (++entries >= limit) {
        await walk.return({ complete: true, entries, restarts: 0 });
        return { entries, complete: true };
      }
    }
    seen += count - firstNew;
    onProgress?.(seen);
  }
}
