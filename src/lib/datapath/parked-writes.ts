/** Changes that the kernel could not take now, until they are tried again: a bounded number of upserts, every delete. */
import { KEY_BYTES } from '../ipcache/layout.ts';
import { NarrowerKeys } from './write-order.ts';
import { REMOVE, UPSERT, WriteQueue } from './write-queue.ts';

export class ParkedWrites {
  readonly queue: WriteQueue;
  /** What the kernel answered last. */
  lastErrno: string | undefined;
  readonly #most: number;
  #narrower: NarrowerKeys | undefined;
  #hasOverflown = false;

  constructor(valueBytes: number, most: number) {
    this.queue = new WriteQueue(valueBytes);
    this.#most = most;
  }

  get size(): number {
    return this.queue.size;
  }

  /** Keeps a change that failed; past the bound an upsert is forgotten, and only that there was one is remembered. */
  add(from: WriteQueue, index: number): void {
    this.#narrower = undefined;
    // Slots of what went long ago are given back when nothing is left.
    if (this.queue.size === 0) this.queue.clear();
    const events = from.events(index);
    if (from.operation(index) === REMOVE) this.queue.remove(from.keyAt(index), from.identity(index), events);
    else if (this.queue.size < this.#most) this.queue.upsert(from.keyAt(index), from.valueAt(index), events);
    else this.#hasOverflown = true;
  }

  /** A newer change of the key came. */
  supersede(key: Uint8Array): void {
    if (this.queue.size === 0) return;
    const index = this.queue.find(key);
    if (index >= 0) this.queue.drop(index);
  }

  indices(operation: typeof UPSERT | typeof REMOVE): number[] {
    const indices: number[] = [];
    for (let i = 0; i < this.queue.slots; i++) if (this.queue.operation(i) === operation) indices.push(i);
    return indices;
  }

  /** Whether an upsert of a narrower prefix inside this one waits here. */
  hasWithin(from: WriteQueue, index: number): boolean {
    if (this.queue.size === 0) return false;
    this.#narrower ??= new NarrowerKeys(this.queue.keys.slice(), this.indices(UPSERT));
    return this.#narrower.anyWithin(from.keys, index * KEY_BYTES);
  }

  /** Whether upserts were forgotten since the last time this was asked. */
  takeOverflow(): boolean {
    const was = this.#hasOverflown;
    this.#hasOverflown = false;
    return was;
  }
}
