/**
 * Reads runs of entries: by batches on a pool thread, or by next-key and lookup where the kernel has no batches for
 * tries (before Linux 5.13). Nothing here is proven: what a run is worth is for the walk to find out.
 */
import { setImmediate, setTimeout } from 'node:timers/promises';
import { KernelFeatureError } from '../errors.ts';
import { errnoOf } from './bpf-error.ts';
import type { KeyRun } from './key-run.ts';
import type { BpfMap } from './map.ts';

/** Entries that are read one by one before other work gets its turn: well under a millisecond. */
const SLICE_ENTRIES = 256;
/** Errors that pass: the kernel's allocations while it lists, a lock that was not got, a batch that did not fit. */
const PASSING: ReadonlySet<string | undefined> = new Set(['ENOMEM', 'EBUSY', 'ENOSPC', 'EAGAIN', 'EINTR']);
const MAX_RETRIES = 6;

export class RunReader {
  readonly #map: BpfMap;
  readonly #signal: AbortSignal | undefined;
  readonly #cursorOut: Uint8Array;
  readonly #value: Uint8Array;
  #listed: Uint8Array;
  #next: Uint8Array;
  #batches = true;

  constructor(map: BpfMap, signal: AbortSignal | undefined) {
    this.#map = map;
    this.#signal = signal;
    this.#cursorOut = new Uint8Array(map.info.keyBytes);
    this.#listed = new Uint8Array(map.info.keyBytes);
    this.#next = new Uint8Array(map.info.keyBytes);
    this.#value = new Uint8Array(map.info.valueBytes);
  }

  /**
   * Fills the run with up to `limit` entries that the kernel lists after the cursor, or from the start. May fill fewer.
   * Neither buffer may be touched until it settles.
   * @throws {ToolError} what the kernel keeps answering after retries.
   */
  async read(run: KeyRun, cursor: Uint8Array | undefined, limit: number): Promise<void> {
    for (let retries = 0; ; retries++) {
      try {
        if (this.#batches) return await this.#readBatch(run, cursor, limit);
        return await this.#readSingly(run, cursor, limit);
      } catch (error) {
        run.count = 0;
        run.end = false;
        if (this.#batches && error instanceof KernelFeatureError) this.#batches = false;
        else if (retries < MAX_RETRIES && PASSING.has(errnoOf(error))) await setTimeout(2 ** retries);
        else throw error;
      }
    }
  }

  async #readBatch(run: KeyRun, cursor: Uint8Array | undefined, limit: number): Promise<void> {
    const { count, end } = await this.#map.lookupBatch(cursor, this.#cursorOut, run.keys, run.values, limit);
    run.count = count;
    run.end = end;
  }

  async #readSingly(run: KeyRun, cursor: Uint8Array | undefined, limit: number): Promise<void> {
    run.count = 0;
    run.end = false;
    let previous = cursor;
    while (run.count < limit) {
      const slice = Math.min(limit, run.count + SLICE_ENTRIES);
      while (run.count < slice) {
        if (!this.#map.nextKey(previous, this.#next)) {
          run.end = true;
          return;
        }
        // Gone before it was read and not covered either. From a key that is gone there is no way on.
        if (!this.#map.lookup(this.#next, this.#value)) return;
        run.keys.set(this.#next, run.count * run.keyBytes);
        run.values.set(this.#value, run.count * this.#value.length);
        run.count++;
        [this.#listed, this.#next] = [this.#next, this.#listed];
        previous = this.#listed;
      }
      await setImmediate();
      if (this.#signal?.aborted) return;
    }
  }
}
