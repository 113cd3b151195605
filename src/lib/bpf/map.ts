/**
 * An open BPF map: the element and batch operations of bpf(2) on its descriptor. Keys and values are bytes; what they
 * mean is decided elsewhere. Callers in hot loops pass the same buffers again and again: their addresses are then
 * resolved once.
 */
import type { ToolError } from '../errors.ts';
import { BpfAttr } from '../native/attr.ts';
import type { Kernel } from '../native/kernel.ts';
import { bpfError } from './bpf-error.ts';
import { bpfCall } from './call.ts';
import { ENOENT } from './errno.ts';
import { type BatchDone, type BatchRead, MapBatch } from './map-batch.ts';
import type { MapInfo } from './map-info.ts';
import {
  BPF_ANY,
  BPF_MAP_DELETE_ELEM,
  BPF_MAP_FREEZE,
  BPF_MAP_GET_NEXT_KEY,
  BPF_MAP_LOOKUP_ELEM,
  BPF_MAP_UPDATE_ELEM,
} from './uapi.ts';

export interface BpfMapOptions {
  readonly kernel: Kernel;
  /** Owned by the map from now on, closed with it. */
  readonly fd: number;
  readonly info: MapInfo;
  /** The pin it was opened by; absent for a map opened by id. */
  readonly path?: string | undefined;
}

export class BpfMap implements Disposable {
  readonly fd: number;
  readonly info: MapInfo;
  readonly path: string | undefined;
  readonly kernel: Kernel;
  readonly #batch: MapBatch;
  readonly #lookup = new BpfAttr();
  readonly #update = new BpfAttr();
  readonly #delete = new BpfAttr();
  readonly #next = new BpfAttr();
  #open = true;

  constructor(options: BpfMapOptions) {
    this.kernel = options.kernel;
    this.fd = options.fd;
    this.info = options.info;
    this.path = options.path;
    this.#batch = new MapBatch(this);
    for (const attr of [this.#lookup, this.#update, this.#delete, this.#next]) attr.u32(0, this.fd);
  }

  /** How messages name it: `map /sys/fs/bpf/x` or `map id 7`. */
  get label(): string {
    return `map ${this.path ?? `id ${this.info.id}`}`;
  }

  /**
   * BPF_MAP_LOOKUP_ELEM. On an LPM trie this is the longest match for the key's bits, not the key itself.
   * @param valueOut `info.valueBytes` long, written when found.
   * @returns false when nothing matches.
   * @throws {NotPermittedError} where the descriptor cannot read.
   */
  lookup(key: Uint8Array, valueOut: Uint8Array): boolean {
    this.#needs(key, valueOut);
    return this.#found(BPF_MAP_LOOKUP_ELEM, this.#lookup.ptr(8, key).ptr(16, valueOut).u64(24, 0), 'read an entry of');
  }

  /**
   * BPF_MAP_UPDATE_ELEM: adds the entry or replaces its value and, on a trie, its host bits.
   * @param flags BPF_ANY, BPF_NOEXIST or BPF_EXIST; older kernels ignore the last two on LPM tries.
   * @throws {FailedError} MAP_FULL, ENTRY_EXISTS, NO_MEMORY, BUSY. @throws {NoEntryError} BPF_EXIST and no such entry.
   * @throws {NotPermittedError} a frozen map or a read-only descriptor.
   */
  update(key: Uint8Array, value: Uint8Array, flags: number = BPF_ANY): void {
    this.#needs(key, value);
    const attr = this.#update.ptr(8, key).ptr(16, value).u64(24, flags);
    const ret = bpfCall(this.kernel, BPF_MAP_UPDATE_ELEM, attr);
    if (ret < 0) throw this.error(BPF_MAP_UPDATE_ELEM, -ret, 'write an entry of');
  }

  /** BPF_MAP_DELETE_ELEM, exact: prefix length and the bits within it. @returns false when there is no such entry. */
  delete(key: Uint8Array): boolean {
    this.#needs(key);
    return this.#found(BPF_MAP_DELETE_ELEM, this.#delete.ptr(8, key), 'delete an entry of');
  }

  /**
   * BPF_MAP_GET_NEXT_KEY. A `previous` that is gone starts over (since Linux 6.13) or answers any later key (before).
   * @param previous undefined for the first key. @param keyOut may not be the same buffer as `previous`.
   * @returns false at the end and in an empty map.
   */
  nextKey(previous: Uint8Array | undefined, keyOut: Uint8Array): boolean {
    this.#needs(previous ?? keyOut);
    this.#needs(keyOut);
    return this.#found(BPF_MAP_GET_NEXT_KEY, this.#next.ptr(8, previous).ptr(16, keyOut), 'list');
  }

  /** See MapBatch.lookup. */
  lookupBatch(
    cursorIn: Uint8Array | undefined,
    cursorOut: Uint8Array,
    keys: Uint8Array,
    values: Uint8Array,
    count: number,
  ): Promise<BatchRead> {
    return this.#batch.lookup({ cursorIn, cursorOut, keys, values, count });
  }

  /** See MapBatch.update. */
  updateBatch(keys: Uint8Array, values: Uint8Array, count: number): BatchDone {
    return this.#batch.update(keys, values, count);
  }

  /** See MapBatch.updateAsync. */
  updateBatchAsync(keys: Uint8Array, values: Uint8Array, count: number): Promise<BatchDone> {
    return this.#batch.updateAsync(keys, values, count);
  }

  /** See MapBatch.delete. */
  deleteBatch(keys: Uint8Array, count: number): BatchDone {
    return this.#batch.delete(keys, count);
  }

  /** BPF_MAP_FREEZE: no process can change the map through bpf(2) any more (Linux 5.2). Cannot be undone. */
  freeze(): void {
    const ret = bpfCall(this.kernel, BPF_MAP_FREEZE, new BpfAttr().u32(0, this.fd));
    if (ret < 0) throw this.error(BPF_MAP_FREEZE, -ret, 'freeze');
  }

  [Symbol.dispose](): void {
    if (!this.#open) return;
    this.#open = false;
    this.kernel.close(this.fd);
  }

  /** The error of a failed call on this map. @param verb `write an entry of`. */
  error(cmd: number, errno: number, verb: string): ToolError {
    return bpfError({
      cmd,
      errno,
      action: `${verb} ${this.label}`,
      path: this.path,
      operands: { mapId: this.info.id },
    });
  }

  #found(cmd: number, attr: BpfAttr, verb: string): boolean {
    const ret = bpfCall(this.kernel, cmd, attr);
    if (ret >= 0) return true;
    if (ret === -ENOENT) return false;
    throw this.error(cmd, -ret, verb);
  }

  /** The kernel reads and writes as many bytes as the map says: a shorter buffer would be an overrun of our memory. */
  #needs(key: Uint8Array, value?: Uint8Array): void {
    if (key.length < this.info.keyBytes || (value !== undefined && value.length < this.info.valueBytes)) {
      throw new RangeError(`buffer shorter than a key or value of ${this.label}`);
    }
  }
}
