/**
 * A kernel in memory for tests: maps behind descriptors, answered through the same attributes as the real one's. What
 * it adds is control: answers scripted per command, and a hook that may change a map before, after and inside any call.
 */
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { EBADF, EINVAL, ENOENT, ENOTSUPP, EPERM } from '../../src/lib/bpf/errno.ts';
import { BpfMap } from '../../src/lib/bpf/map.ts';
import { readMapInfo } from '../../src/lib/bpf/map-info.ts';
import * as uapi from '../../src/lib/bpf/uapi.ts';
import type { BpfAttr } from '../../src/lib/native/attr.ts';
import type { Kernel } from '../../src/lib/native/kernel.ts';
import { batchLookup, batchWrite } from './fake-batch.ts';
import { FakeMap, type FakeMapSpec, makeStore } from './fake-map.ts';
import type { TrieKind } from './fake-trie.ts';

export interface FakeCall {
  readonly cmd: number;
  /** How many calls of this command there were, this one included. */
  readonly nth: number;
  /** `listed` and `read` happen inside a batch lookup, around the reading of one value. */
  readonly phase: 'before' | 'listed' | 'read' | 'after';
  readonly map: FakeMap;
  /** Inside a batch: entries before this one. */
  readonly step: number;
  /** Inside a batch: the key that was listed. */
  readonly key: Uint8Array | undefined;
}

interface Failure {
  readonly cmd: number;
  readonly errno: number;
  times: number;
  /** Entries of a batch write that are done before it fails. */
  readonly after: number;
}

const ELEMENT_WRITES: ReadonlySet<number> = new Set([uapi.BPF_MAP_UPDATE_ELEM, uapi.BPF_MAP_DELETE_ELEM]);
const BATCH_WRITES: ReadonlySet<number> = new Set([uapi.BPF_MAP_UPDATE_BATCH, uapi.BPF_MAP_DELETE_BATCH]);

const IPCACHE: FakeMapSpec = {
  type: uapi.BPF_MAP_TYPE_LPM_TRIE,
  keyBytes: 24,
  valueBytes: 24,
  maxEntries: 512_000,
  flags: uapi.BPF_F_NO_PREALLOC,
  name: 'cilium_ipcache_',
};

export class FakeKernel implements Kernel {
  readonly kind: TrieKind;
  /** Sees every call on a map, and may change the map. */
  onCall: ((call: FakeCall) => void) | undefined;
  /** Commands that this kernel does not have, with the errno it answers. */
  readonly missing = new Map<number, number>();
  /** Calls so far, by command. */
  readonly calls = new Map<number, number>();
  readonly #maps = new Map<number, FakeMap>();
  readonly #descriptors = new Map<number, FakeMap>();
  readonly #failures: Failure[] = [];
  readonly #pins = new Map<string, FakeMap>();
  #nextFd = 100;

  constructor(kind: TrieKind = 'since-6.13') {
    this.kind = kind;
  }

  /** Descriptors that were not closed. */
  get openDescriptors(): number {
    return this.#descriptors.size;
  }

  /** Makes a map and opens it; `fake` is its inside. */
  createMap(spec: Partial<FakeMapSpec> = {}): { map: BpfMap; fake: FakeMap } {
    const fd = this.#create({ ...IPCACHE, ...spec });
    const fake = this.#descriptors.get(fd);
    if (fake === undefined) throw new Error(`the fake kernel refuses such a map: errno ${-fd}`);
    return { map: new BpfMap({ kernel: this, fd, info: readMapInfo(this, fd) }), fake };
  }

  /** Makes the path stand for the map: an empty file that is a new one each time, as a new pin is. */
  pin(path: string, fake: FakeMap): void {
    writeFileSync(`${path}.new`, '');
    renameSync(`${path}.new`, path);
    this.#pins.set(path, fake);
  }

  /** The next `times` calls of the command answer the errno; `after`: a batch write does so many entries before. */
  fail(cmd: number, errno: number, { times = 1, after = 0 } = {}): this {
    this.#failures.push({ cmd, errno, times, after });
    return this;
  }

  close(fd: number): void {
    if (!this.#descriptors.delete(fd)) throw new Error(`close of ${fd}, which is not open`);
  }

  async bpfAsync(cmd: number, attr: BpfAttr): Promise<number> {
    await Promise.resolve();
    return this.bpf(cmd, attr);
  }

  bpf(cmd: number, attr: BpfAttr): number {
    const nth = (this.calls.get(cmd) ?? 0) + 1;
    this.calls.set(cmd, nth);
    const missing = this.missing.get(cmd);
    if (missing !== undefined) return -missing;
    const failure = this.#failures.find((scripted) => scripted.cmd === cmd && scripted.times > 0);
    if (failure !== undefined) failure.times--;
    const write = BATCH_WRITES.has(cmd);
    if (failure !== undefined && !write) return -failure.errno;
    if (cmd === uapi.BPF_MAP_CREATE) return this.#create(specOf(attr));
    if (cmd === uapi.BPF_MAP_GET_NEXT_ID) return this.#nextId(attr);
    if (cmd === uapi.BPF_MAP_GET_FD_BY_ID) return this.#open(this.#maps.get(attr.getU32(0)));
    if (cmd === uapi.BPF_OBJ_GET) return this.#openPin(attr);
    const batch = write || cmd === uapi.BPF_MAP_LOOKUP_BATCH;
    const map = this.#descriptors.get(attr.getU32(batch ? 36 : 0));
    if (map === undefined) return -EBADF;
    const tell = (phase: FakeCall['phase'], step = 0, key?: Uint8Array): void =>
      this.onCall?.({ cmd, nth, phase, map, step, key });
    tell('before');
    const ret = this.#onMap(cmd, map, attr, failure, (step, key, phase) => tell(phase, step, key));
    tell('after');
    return ret;
  }

  #onMap(
    cmd: number,
    map: FakeMap,
    attr: BpfAttr,
    failure: Failure | undefined,
    onStep: (step: number, key: Uint8Array, phase: 'listed' | 'read') => void,
  ): number {
    if (map.frozen && (ELEMENT_WRITES.has(cmd) || BATCH_WRITES.has(cmd))) return -EPERM;
    switch (cmd) {
      case uapi.BPF_OBJ_GET_INFO_BY_FD:
        return writeInfo(map, attr);
      case uapi.BPF_MAP_LOOKUP_ELEM:
        return answer(map.store.lookup(pointed(attr, 8, map.spec.keyBytes)), attr.pointers.get(16));
      case uapi.BPF_MAP_UPDATE_ELEM: {
        const value = pointed(attr, 16, map.spec.valueBytes);
        return -map.store.update(pointed(attr, 8, map.spec.keyBytes), value, Number(attr.getU64(24)));
      }
      case uapi.BPF_MAP_DELETE_ELEM:
        return -map.store.delete(pointed(attr, 8, map.spec.keyBytes));
      case uapi.BPF_MAP_GET_NEXT_KEY: {
        const previous = attr.pointers.has(8) ? pointed(attr, 8, map.spec.keyBytes) : undefined;
        return answer(map.store.nextKey(previous), attr.pointers.get(16));
      }
      case uapi.BPF_MAP_FREEZE:
        map.frozen = true;
        return 0;
      case uapi.BPF_MAP_LOOKUP_BATCH:
        return map.spec.type === uapi.BPF_MAP_TYPE_LPM_TRIE ? batchLookup(map, this.kind, attr, onStep) : -ENOTSUPP;
      case uapi.BPF_MAP_UPDATE_BATCH:
      case uapi.BPF_MAP_DELETE_BATCH:
        return batchWrite(map, attr, failure);
      default:
        return -EINVAL;
    }
  }

  #create(spec: FakeMapSpec): number {
    const store = makeStore(spec, this.kind);
    if (typeof store === 'number') return -store;
    const map = new FakeMap(this.#maps.size + 1, spec, store);
    this.#maps.set(map.id, map);
    return this.#open(map);
  }

  #open(map: FakeMap | undefined): number {
    if (map === undefined) return -ENOENT;
    this.#descriptors.set(this.#nextFd, map);
    return this.#nextFd++;
  }

  #openPin(attr: BpfAttr): number {
    const path = Buffer.from(attr.pointers.get(0) ?? [])
      .toString()
      .replace(/\0.*$/s, '');
    return this.#open(existsSync(path) ? this.#pins.get(path) : undefined);
  }

  #nextId(attr: BpfAttr): number {
    const next = [...this.#maps.keys()].find((id) => id > attr.getU32(0));
    if (next === undefined) return -ENOENT;
    attr.u32(4, next);
    return 0;
  }
}

function specOf(attr: BpfAttr): FakeMapSpec {
  const name = Buffer.from(attr.bytes.subarray(28, 44)).toString('latin1');
  return {
    type: attr.getU32(0),
    keyBytes: attr.getU32(4),
    valueBytes: attr.getU32(8),
    maxEntries: attr.getU32(12),
    flags: attr.getU32(16),
    name: name.slice(0, name.indexOf('\0')),
  };
}

function pointed(attr: BpfAttr, offset: number, bytes: number): Uint8Array {
  const buffer = attr.pointers.get(offset);
  if (buffer === undefined || buffer.length < bytes) throw new Error(`the attribute's pointer at ${offset} is short`);
  return buffer.subarray(0, bytes);
}

function answer(bytes: Uint8Array | undefined, out: Uint8Array | undefined): number {
  if (bytes === undefined) return -ENOENT;
  out?.set(bytes);
  return 0;
}

function writeInfo(map: FakeMap, attr: BpfAttr): number {
  const { type, keyBytes, valueBytes, maxEntries, flags, name } = map.spec;
  const info = attr.pointers.get(8);
  if (info === undefined) return -EINVAL;
  const view = new DataView(info.buffer, info.byteOffset, info.byteLength);
  [type, map.id, keyBytes, valueBytes, maxEntries, flags].forEach((field, i) => {
    view.setUint32(i * 4, field, true);
  });
  info.set(Buffer.from(name.slice(0, 15), 'latin1'), 24);
  return 0;
}
