/** Changes that the map has yet to take, one per key: the newest. Bytes back to back, so that a batch is a copy of them. */
import type { IpcacheEvent } from '../cache/listener.ts';
import { KeyIndex } from '../ipcache/key-index.ts';
import { KEY_BYTES } from '../ipcache/layout.ts';

export const NOTHING = 0;
export const UPSERT = 1;
export const REMOVE = 2;
export type Operation = typeof NOTHING | typeof UPSERT | typeof REMOVE;

/** The delete holds whatever identity is stored. */
export const ANY_IDENTITY = -1;

export class WriteQueue {
  readonly valueBytes: number;
  readonly #index = new KeyIndex();
  #values: Uint8Array;
  #operations: Uint8Array;
  /** What a delete expects to be stored. */
  #identities: Float64Array;
  readonly #events: (readonly IpcacheEvent[] | undefined)[] = [];
  #live = 0;

  constructor(valueBytes: number) {
    this.valueBytes = valueBytes;
    const room = 1024;
    this.#values = new Uint8Array(room * valueBytes);
    this.#operations = new Uint8Array(room);
    this.#identities = new Float64Array(room);
  }

  /** Changes that are waiting. */
  get size(): number {
    return this.#live;
  }

  /** One more than the highest index in use; `operation` tells what stands at each. */
  get slots(): number {
    return this.#index.count;
  }

  get keys(): Uint8Array {
    return this.#index.keys;
  }

  get values(): Uint8Array {
    return this.#values;
  }

  operation(index: number): Operation {
    return this.#operations[index] as Operation;
  }

  identity(index: number): number {
    return this.#identities[index] as number;
  }

  events(index: number): readonly IpcacheEvent[] {
    return this.#events[index] ?? [];
  }

  /** @returns the index, also of a change that was taken out; -1 for a key never seen. */
  find(keys: Uint8Array, offset = 0): number {
    return this.#index.find(keys, offset);
  }

  /** Whether a change of the key is waiting here. */
  holds(key: Uint8Array): boolean {
    if (this.#live === 0) return false;
    const index = this.#index.find(key);
    return index >= 0 && this.#operations[index] !== NOTHING;
  }

  /** Adds events to an upsert of this very value that is waiting. @returns false when none is */
  append(key: Uint8Array, value: Uint8Array, events: readonly IpcacheEvent[]): boolean {
    if (this.#live === 0) return false;
    const index = this.#index.find(key);
    if (index < 0 || !this.#isUpsertOf(index, value)) return false;
    if (events.length > 0) this.#events[index] = [...this.events(index), ...events];
    return true;
  }

  /** @returns `coalesced`: it took the place of another change; `equal`: the very same was waiting */
  upsert(key: Uint8Array, value: Uint8Array, events: readonly IpcacheEvent[]): 'new' | 'coalesced' | 'equal' {
    const live = this.#live;
    const index = this.#index.add(key);
    const isEqual = this.#isUpsertOf(index, value);
    this.#put(index, UPSERT, events);
    if (isEqual) return 'equal';
    const at = index * this.valueBytes;
    for (let i = 0; i < this.valueBytes; i++) this.#values[at + i] = value[i] as number;
    return live === this.#live ? 'coalesced' : 'new';
  }

  /** @returns whether it took the place of another change. */
  remove(key: Uint8Array, identity: number, events: readonly IpcacheEvent[]): boolean {
    const live = this.#live;
    const index = this.#index.add(key);
    this.#put(index, REMOVE, events);
    this.#identities[index] = identity;
    return live === this.#live;
  }

  /** The delete at the index no longer depends on what is stored. */
  expectAny(index: number): void {
    this.#identities[index] = ANY_IDENTITY;
  }

  /** Takes one change out. */
  drop(index: number): void {
    if (this.#operations[index] === NOTHING) return;
    this.#operations[index] = NOTHING;
    this.#events[index] = undefined;
    this.#live--;
  }

  clear(): void {
    this.#operations.fill(NOTHING, 0, this.#index.count);
    this.#index.clear();
    this.#events.length = 0;
    this.#live = 0;
  }

  /** Copies of key and value, for calls that keep them. */
  keyAt(index: number): Uint8Array {
    return this.keys.slice(index * KEY_BYTES, (index + 1) * KEY_BYTES);
  }

  valueAt(index: number): Uint8Array {
    return this.#values.slice(index * this.valueBytes, (index + 1) * this.valueBytes);
  }

  /** @param index of a key; `clear` and `grow` leave no operation where none was put */
  #put(index: number, operation: Operation, events: readonly IpcacheEvent[]): void {
    if (index >= this.#operations.length) this.#grow();
    if (this.#operations[index] === NOTHING) {
      this.#live++;
      this.#events[index] = events;
    } else if (events.length > 0) {
      this.#events[index] = [...this.events(index), ...events];
    }
    this.#operations[index] = operation;
  }

  #isUpsertOf(index: number, value: Uint8Array): boolean {
    if (this.#operations[index] !== UPSERT) return false;
    const at = index * this.valueBytes;
    for (let i = 0; i < this.valueBytes; i++) if (this.#values[at + i] !== value[i]) return false;
    return true;
  }

  #grow(): void {
    const room = this.#operations.length * 2;
    const values = new Uint8Array(room * this.valueBytes);
    values.set(this.#values);
    this.#values = values;
    const operations = new Uint8Array(room);
    operations.set(this.#operations);
    this.#operations = operations;
    const identities = new Float64Array(room);
    identities.set(this.#identities);
    this.#identities = identities;
  }
}
