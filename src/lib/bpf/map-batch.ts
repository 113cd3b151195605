/**
 * The batch operations of bpf(2) on one map (Linux 5.6; on LPM tries 5.13). `count` goes in as room and comes back as
 * what was done, also where the call fails.
 */
import type { ToolError } from '../errors.ts';
import { BpfAttr } from '../native/attr.ts';
import type { Kernel } from '../native/kernel.ts';
import { EAGAIN, EINTR, ENOENT } from './errno.ts';
import { BPF_MAP_DELETE_BATCH, BPF_MAP_LOOKUP_BATCH, BPF_MAP_UPDATE_BATCH } from './uapi.ts';

/** The map that the batches are of; a BpfMap. */
export interface BatchTarget {
  readonly kernel: Kernel;
  readonly fd: number;
  readonly info: { readonly keyBytes: number; readonly valueBytes: number };
  error(cmd: number, errno: number, verb: string): ToolError;
}

export interface BatchRead {
  /** Entries written to the buffers. */
  readonly count: number;
  /** No entry follows. When false, `cursorOut` is the cursor of the next call, unless `count` is 0. */
  readonly end: boolean;
}

export interface BatchDone {
  /** Entries before the first failure; all of them where `errno` is absent. */
  readonly done: number;
  /** Why the entry at index `done` failed. */
  readonly errno?: number;
}

export interface BatchBuffers {
  /** Where to go on; undefined at the start. */
  readonly cursorIn: Uint8Array | undefined;
  /** Not the same buffer as `cursorIn`. */
  readonly cursorOut: Uint8Array;
  readonly keys: Uint8Array;
  readonly values: Uint8Array;
  readonly count: number;
}

/** Interruptions without progress before the caller is told. */
const MAX_INTERRUPTIONS = 100;

export class MapBatch {
  readonly #map: BatchTarget;

  constructor(map: BatchTarget) {
    this.#map = map;
  }

  /**
   * BPF_MAP_LOOKUP_BATCH on a pool thread: up to `count` entries after the cursor, in the map's order. Nothing may
   * touch the buffers until it settles. An interrupted batch that has entries is a short batch; one that has none is
   * repeated, and when it never gets on the answer is `{count: 0, end: false}`, with the cursor still where it was.
   * @throws {KernelFeatureError} the kernel has no batches for this map type: list with next-key instead.
   */
  async lookup(buffers: BatchBuffers): Promise<BatchRead> {
    const { cursorIn, cursorOut, keys, values, count } = buffers;
    const map = this.#map;
    this.#needs(keys, map.info.keyBytes * count);
    this.#needs(values, map.info.valueBytes * count);
    this.#needs(cursorOut, map.info.keyBytes);
    this.#needs(cursorIn ?? cursorOut, map.info.keyBytes);
    const attr = batchAttr(map.fd, keys, values).ptr(0, cursorIn).ptr(8, cursorOut);
    for (let tries = 0; tries < MAX_INTERRUPTIONS; tries++) {
      const ret = await map.kernel.bpfAsync(BPF_MAP_LOOKUP_BATCH, attr.u32(32, count));
      if (ret >= 0) return { count: attr.getU32(32), end: false };
      if (ret === -ENOENT) return { count: attr.getU32(32), end: true };
      if (ret !== -EINTR && ret !== -EAGAIN) throw map.error(BPF_MAP_LOOKUP_BATCH, -ret, 'read');
      const counted = attr.getU32(32);
      // An interruption before the kernel looked at the count leaves it as it was given.
      if (counted > 0 && counted < count) return { count: counted, end: false };
    }
    return { count: 0, end: false };
  }

  /** BPF_MAP_UPDATE_BATCH: stops at the first entry that fails. An error before the first entry is `done` 0 as well. */
  update(keys: Uint8Array, values: Uint8Array, count: number): BatchDone {
    return this.#write(BPF_MAP_UPDATE_BATCH, keys, values, count);
  }

  /** As update, on a pool thread; the buffers must stay untouched until it settles. Entries may land while it runs. */
  async updateAsync(keys: Uint8Array, values: Uint8Array, count: number): Promise<BatchDone> {
    const attr = this.#writeAttr(keys, values, count);
    return answer(await this.#map.kernel.bpfAsync(BPF_MAP_UPDATE_BATCH, attr), attr, count);
  }

  /** BPF_MAP_DELETE_BATCH: stops at the first key that is not there, with ENOENT and the count before it. */
  delete(keys: Uint8Array, count: number): BatchDone {
    return this.#write(BPF_MAP_DELETE_BATCH, keys, undefined, count);
  }

  #write(cmd: number, keys: Uint8Array, values: Uint8Array | undefined, count: number): BatchDone {
    const attr = this.#writeAttr(keys, values, count);
    return answer(this.#map.kernel.bpf(cmd, attr), attr, count);
  }

  #writeAttr(keys: Uint8Array, values: Uint8Array | undefined, count: number): BpfAttr {
    this.#needs(keys, this.#map.info.keyBytes * count);
    if (values !== undefined) this.#needs(values, this.#map.info.valueBytes * count);
    return batchAttr(this.#map.fd, keys, values).u32(32, count);
  }

  #needs(buffer: Uint8Array, bytes: number): void {
    if (buffer.length < bytes) throw new RangeError(`batch buffer shorter than ${bytes} bytes`);
  }
}

function batchAttr(fd: number, keys: Uint8Array, values: Uint8Array | undefined): BpfAttr {
  return new BpfAttr().ptr(16, keys).ptr(24, values).u32(36, fd).u64(40, 0).u64(48, 0);
}

function answer(ret: number, attr: BpfAttr, count: number): BatchDone {
  if (ret >= 0) return { done: count };
  // A kernel without batches refuses before it looks at the count, which then still says "all".
  const counted = attr.getU32(32);
  return { done: counted < count ? counted : 0, errno: -ret };
}
