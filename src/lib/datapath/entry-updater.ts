/** Puts many entries into the map: in batches on a pool thread, one by one where a batch breaks off or is not to be had. */
import { setImmediate } from 'node:timers/promises';
import { EINVAL, ENOTSUPP, EOPNOTSUPP } from '../bpf/errno.ts';
import type { BpfMap } from '../bpf/map.ts';
import { ToolError } from '../errors.ts';
import { KEY_BYTES } from '../ipcache/layout.ts';
import { UPSERT, type WriteQueue } from './write-queue.ts';

/** `again`: the same entry once more. `stop`: the rest is left untried. */
export type AfterFailure = 'next' | 'again' | 'stop';

export interface UpdateSink {
  written(index: number): void;
  failed(index: number, error: ToolError): Promise<AfterFailure>;
  /** A batch broke off with this errno; the rest of it goes one by one. */
  fellBack(errno: number): void;
}

const BATCH_ENTRIES = 4096;
/** Fewer are written at once without another thread. */
const FEW_ENTRIES = 4;
/** Single writes before other work gets its turn: well under a millisecond. */
const SLICE_ENTRIES = 256;

export class EntryUpdater {
  readonly #map: BpfMap;
  readonly #keys: Uint8Array;
  readonly #values: Uint8Array;
  readonly #key: Uint8Array;
  readonly #value: Uint8Array;
  #haveBatches = true;

  constructor(map: BpfMap) {
    const { valueBytes } = map.info;
    this.#map = map;
    this.#keys = new Uint8Array(BATCH_ENTRIES * KEY_BYTES);
    this.#values = new Uint8Array(BATCH_ENTRIES * valueBytes);
    this.#key = new Uint8Array(KEY_BYTES);
    this.#value = new Uint8Array(valueBytes);
  }

  /** Writes in the order given. What is no upsert any more when its turn comes is passed over. */
  async update(queue: WriteQueue, order: readonly number[], sink: UpdateSink): Promise<void> {
    for (let from = 0; from < order.length; from += BATCH_ENTRIES) {
      const part = order.slice(from, from + BATCH_ENTRIES).filter((index) => queue.operation(index) === UPSERT);
      const done = await this.#batch(queue, part, sink);
      for (let i = 0; i < done; i++) sink.written(part[i] as number);
      if (!(await this.#oneByOne(queue, part.slice(done), sink))) return;
    }
  }

  /** @returns how many were written. */
  async #batch(queue: WriteQueue, part: readonly number[], sink: UpdateSink): Promise<number> {
    if (part.length < FEW_ENTRIES || !this.#haveBatches) return 0;
    const { valueBytes } = queue;
    for (let i = 0; i < part.length; i++) {
      const index = part[i] as number;
      copy(queue.keys, index * KEY_BYTES, this.#keys, i * KEY_BYTES, KEY_BYTES);
      copy(queue.values, index * valueBytes, this.#values, i * valueBytes, valueBytes);
    }
    const { done, errno } = await this.#map.updateBatchAsync(this.#keys, this.#values, part.length);
    if (errno === undefined) return done;
    sink.fellBack(errno);
    if (done === 0 && (errno === EINVAL || errno === ENOTSUPP || errno === EOPNOTSUPP)) {
      // The batch or its first entry: what a single write of that one says decides.
      const first = part[0] as number;
      if (this.#write(queue, first) === undefined) {
        this.#haveBatches = false;
        return 1;
      }
    }
    return done;
  }

  /** @returns false when the sink says to stop. */
  async #oneByOne(queue: WriteQueue, rest: readonly number[], sink: UpdateSink): Promise<boolean> {
    for (let i = 0; i < rest.length; i++) {
      if (i % SLICE_ENTRIES === SLICE_ENTRIES - 1) await setImmediate();
      const index = rest[i] as number;
      if (queue.operation(index) !== UPSERT) continue;
      const error = this.#write(queue, index);
      if (error === undefined) {
        sink.written(index);
        continue;
      }
      const next = await sink.failed(index, error);
      if (next === 'stop') return false;
      if (next === 'again') i--;
    }
    return true;
  }

  #write(queue: WriteQueue, index: number): ToolError | undefined {
    copy(queue.keys, index * KEY_BYTES, this.#key, 0, KEY_BYTES);
    copy(queue.values, index * queue.valueBytes, this.#value, 0, queue.valueBytes);
    try {
      this.#map.update(this.#key, this.#value);
      return undefined;
    } catch (error) {
      if (error instanceof ToolError) return error;
      throw error;
    }
  }
}

function copy(from: Uint8Array, fromAt: number, to: Uint8Array, toAt: number, length: number): void {
  for (let i = 0; i < length; i++) to[toAt + i] = from[fromAt + i] as number;
}
