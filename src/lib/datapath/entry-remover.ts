/** Deletes entries for the writer, each only while it has the identity that was meant. */
import { setImmediate } from 'node:timers/promises';
import type { BpfMap } from '../bpf/map.ts';
import { isStored } from '../bpf/presence.ts';
import { ToolError } from '../errors.ts';
import { KEY_BYTES, type Layout } from '../ipcache/layout.ts';
import { identityOf } from './stored-identity.ts';
import { ANY_IDENTITY, REMOVE, type WriteQueue } from './write-queue.ts';

/** `absent`: it was gone already. `stale`: the key has another identity by now, and stays. */
export type Removal = 'deleted' | 'absent' | 'stale';

export interface RemoveSink {
  removed(index: number, how: Removal): void;
  failed(index: number, error: ToolError): void;
}

const SLICE_ENTRIES = 256;

export class EntryRemover {
  readonly #map: BpfMap;
  readonly #layout: Layout;
  readonly #key = new Uint8Array(KEY_BYTES);
  readonly #stored: Uint8Array;

  constructor(map: BpfMap, layout: Layout) {
    this.#map = map;
    this.#layout = layout;
    this.#stored = new Uint8Array(map.info.valueBytes);
  }

  /** What is no delete any more when its turn comes is passed over. */
  async remove(queue: WriteQueue, indices: readonly number[], sink: RemoveSink): Promise<void> {
    let slice = 0;
    for (const index of indices) {
      if (++slice % SLICE_ENTRIES === 0) await setImmediate();
      if (queue.operation(index) !== REMOVE) continue;
      try {
        const done = this.#delete(queue, index);
        sink.removed(index, done ?? ((await isStored(this.#map, queue.keyAt(index))) ? 'stale' : 'absent'));
      } catch (error) {
        if (!(error instanceof ToolError)) throw error;
        sink.failed(index, error);
      }
    }
  }

  /** @returns undefined where the longest match has another identity: the entry's own or that of a wider one */
  #delete(queue: WriteQueue, index: number): 'deleted' | 'absent' | undefined {
    for (let i = 0; i < KEY_BYTES; i++) this.#key[i] = queue.keys[index * KEY_BYTES + i] as number;
    const expected = queue.identity(index);
    if (expected !== ANY_IDENTITY) {
      if (!this.#map.lookup(this.#key, this.#stored)) return 'absent';
      if (identityOf(this.#layout, this.#stored) !== expected) return undefined;
    }
    return this.#map.delete(this.#key) ? 'deleted' : 'absent';
  }
}
