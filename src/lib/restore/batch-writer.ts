/**
 * Fills a map that nobody else knows yet: entries are gathered and written a batch at a time on a pool thread, while the
 * next ones are read.
 */
import type { BpfMap } from '../bpf/map.ts';
import { KEY_BYTES } from '../ipcache/layout.ts';
import { EntrySum } from './entry-sum.ts';

const BATCH_ENTRIES = 4096;

interface Half {
  readonly keys: Uint8Array;
  readonly values: Uint8Array;
}

export class BatchWriter {
  /** Of everything that was added, where it is to be compared later. */
  readonly sum: EntrySum | undefined;
  readonly #map: BpfMap;
  #filling: Half;
  #writing: Half;
  #count = 0;
  #added = 0;
  #pending: Promise<void> = Promise.resolve();
  #failure: unknown;

  constructor(map: BpfMap, { withSum = false }: { readonly withSum?: boolean } = {}) {
    this.#map = map;
    this.sum = withSum ? new EntrySum() : undefined;
    const half = (): Half => ({
      // A batch of a walk and the entries that were waiting before it.
      keys: new Uint8Array(2 * BATCH_ENTRIES * KEY_BYTES),
      values: new Uint8Array(2 * BATCH_ENTRIES * map.info.valueBytes),
    });
    this.#filling = half();
    this.#writing = half();
  }

  /** How many entries were added. */
  get entries(): number {
    return this.#added;
  }

  /** Copies an entry. At most 4096 may be added between two calls of `flushFull`. */
  add(keys: Uint8Array, key: number, values: Uint8Array, value: number): void {
    const { valueBytes } = this.#map.info;
    const half = this.#filling;
    const at = this.#count * KEY_BYTES;
    for (let i = 0; i < KEY_BYTES; i++) half.keys[at + i] = keys[key + i] as number;
    const to = this.#count * valueBytes;
    for (let i = 0; i < valueBytes; i++) half.values[to + i] = values[value + i] as number;
    this.sum?.add(half.keys, at, half.values, to, valueBytes);
    this.#count++;
    this.#added++;
  }

  /** Starts to write when a batch is full. @throws {ToolError} what an earlier batch failed with */
  async flushFull(): Promise<void> {
    if (this.#count >= BATCH_ENTRIES) await this.#flush();
  }

  /** Writes what is left. @throws {ToolError} such as MAP_FULL */
  async end(): Promise<void> {
    await this.#flush();
    await this.#pending;
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #flush(): Promise<void> {
    await this.#pending;
    if (this.#failure !== undefined) throw this.#failure;
    const half = this.#filling;
    const count = this.#count;
    this.#filling = this.#writing;
    this.#writing = half;
    this.#count = 0;
    if (count > 0) {
      this.#pending = this.#write(half, count).catch((error: unknown) => {
        this.#failure = error;
      });
    }
  }

  async #write({ keys, values }: Half, count: number): Promise<void> {
    const { keyBytes, valueBytes } = this.#map.info;
    for (let from = 0; from < count; ) {
      const { done, errno } = await this.#map.updateBatchAsync(
        keys.subarray(from * keyBytes),
        values.subarray(from * valueBytes),
        count - from,
      );
      from += done;
      if (errno === undefined) return;
      if (from < count) this.#writeOne(keys, values, from++);
    }
  }

  /** The entry that a batch stopped at, by itself: kernels without batches write all this way. */
  #writeOne(keys: Uint8Array, values: Uint8Array, at: number): void {
    const { keyBytes, valueBytes } = this.#map.info;
    this.#map.update(keys.subarray(at * keyBytes), values.subarray(at * valueBytes));
  }
}
