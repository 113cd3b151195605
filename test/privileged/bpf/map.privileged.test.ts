import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENOENT, ENOSPC } from '../../../src/lib/bpf/errno.ts';
import type { BpfMap } from '../../../src/lib/bpf/map.ts';
import { readMapFdinfo } from '../../../src/lib/bpf/map-fdinfo.ts';
import { openPin } from '../../../src/lib/bpf/open-pin.ts';
import { pinMap } from '../../../src/lib/bpf/pin.ts';
import { BPF_EXIST, BPF_F_NO_PREALLOC, BPF_F_RDONLY_PROG, BPF_NOEXIST } from '../../../src/lib/bpf/uapi.ts';
import { NoEntryError, NotPermittedError } from '../../../src/lib/errors.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { bpfDescriptors, pinDirectory, realTrie } from '../../support/real-kernel.ts';

const kernel = new LinuxKernel();
const BYTES = 24;
const ROOM = 64;

/** 10.0.n.0/24 */
function keyOf(n: number): Uint8Array {
  return Uint8Array.of(56, 0, 0, 0, 0, 0, 0, 1, 10, 0, n, 0, ...new Array(12).fill(0));
}

function valueNumber(n: number): Uint8Array {
  const value = new Uint8Array(BYTES);
  new DataView(value.buffer).setUint32(0, n, true);
  return value;
}

const joined = (count: number, make: (n: number) => Uint8Array) =>
  Uint8Array.from(Array.from({ length: count }, (_, n) => [...make(n)]).flat());

let map: BpfMap;
let before: number;
beforeEach(() => {
  before = bpfDescriptors();
  map = realTrie(kernel);
});
afterEach(() => {
  map[Symbol.dispose]();
  expect(bpfDescriptors()).toBe(before);
});

describe('BpfMap on the real kernel', () => {
  it('tells its info as it was made', () => {
    const { id, ...info } = map.info;
    expect(info).toEqual({
      type: 11,
      keyBytes: 24,
      valueBytes: 24,
      maxEntries: 1000,
      flags: BPF_F_NO_PREALLOC,
      name: 'ipc_test',
    });
    expect(id).toBeGreaterThan(0);
    using other = realTrie(kernel, { flags: BPF_F_NO_PREALLOC | BPF_F_RDONLY_PROG, name: 'cilium_ipcache_v2' });
    expect([other.info.flags, other.info.name]).toEqual([0x81, 'cilium_ipcache_']);
  });

  it('adds, finds, replaces and deletes entries one by one', () => {
    const out = new Uint8Array(BYTES);
    map.update(keyOf(1), valueNumber(7), BPF_NOEXIST);
    expect(() => map.update(keyOf(1), valueNumber(8), BPF_NOEXIST)).toThrow('the entry exists already');
    map.update(keyOf(1), valueNumber(8), BPF_EXIST);
    expect(() => map.update(keyOf(2), valueNumber(8), BPF_EXIST)).toThrow(NoEntryError);
    expect([map.lookup(keyOf(1), out), out]).toEqual([true, valueNumber(8)]);
    expect([map.nextKey(undefined, out), out]).toEqual([true, keyOf(1)]);
    expect(map.nextKey(keyOf(1), out)).toBe(false);
    expect([map.delete(keyOf(1)), map.delete(keyOf(1))]).toEqual([true, false]);
    expect(map.lookup(keyOf(1), out)).toBe(false);
  });

  it('reads and writes in batches, the last of which comes with the end', async () => {
    expect(map.updateBatch(joined(100, keyOf), joined(100, valueNumber), 100)).toEqual({ done: 100 });
    const keys = new Uint8Array(ROOM * BYTES);
    const values = new Uint8Array(ROOM * BYTES);
    const [one, two] = [new Uint8Array(BYTES), new Uint8Array(BYTES)];
    expect(await map.lookupBatch(undefined, one, keys, values, ROOM)).toEqual({ count: ROOM, end: false });
    expect([keys.subarray(0, BYTES), values.subarray(BYTES, 2 * BYTES)]).toEqual([keyOf(0), valueNumber(1)]);
    expect(await map.lookupBatch(one, two, keys, values, ROOM)).toEqual({ count: 100 - ROOM, end: true });
    expect(map.deleteBatch(joined(60, keyOf), 60)).toEqual({ done: 60 });
    // The first of the next ten is there, the second of another ten is not.
    expect(map.deleteBatch(Uint8Array.from([...keyOf(60), ...keyOf(3)]), 2)).toEqual({ done: 1, errno: ENOENT });
    expect(await map.lookupBatch(undefined, one, keys, values, ROOM)).toEqual({ count: 39, end: true });
  });

  it('counts what of a batch fitted into a full map', async () => {
    using small = realTrie(kernel, { maxEntries: 4 });
    expect(small.updateBatch(joined(6, keyOf), joined(6, valueNumber), 6)).toEqual({ done: 4, errno: ENOSPC });
    expect(await small.updateBatchAsync(joined(6, keyOf), joined(6, valueNumber), 6)).toEqual({
      done: 4,
      errno: ENOSPC,
    });
    expect(() => small.update(keyOf(9), valueNumber(9))).toThrow('the map is full');
  });

  it('reads many maps at a time, each with its own errno', async () => {
    const maps = Array.from({ length: 20 }, (_, n) => realTrie(kernel, { valueBytes: n % 2 === 0 ? 24 : 12 }));
    maps.forEach((each, n) => {
      if (n % 3 === 0) each.update(keyOf(n), valueNumber(n));
    });
    const reads = await Promise.all(
      maps.map((each) =>
        each.lookupBatch(undefined, new Uint8Array(BYTES), new Uint8Array(BYTES * 4), new Uint8Array(BYTES * 4), 4),
      ),
    );
    for (const each of maps) each[Symbol.dispose]();
    expect(reads).toEqual(maps.map((_, n) => ({ count: n % 3 === 0 ? 1 : 0, end: true })));
  });

  it('cannot be written through a read-only descriptor, nor when frozen', () => {
    using directory = pinDirectory('map');
    pinMap(map, `${directory.path}/m`);
    using reader = openPin(`${directory.path}/m`, { kernel });
    using writer = openPin(`${directory.path}/m`, { kernel, write: true });
    expect([readMapFdinfo(reader.fd)?.access, readMapFdinfo(writer.fd)?.access]).toEqual(['read-only', 'read-write']);
    writer.update(keyOf(1), valueNumber(1));
    expect(reader.lookup(keyOf(1), new Uint8Array(BYTES))).toBe(true);
    expect(() => reader.update(keyOf(2), valueNumber(2))).toThrow(NotPermittedError);
    expect(() => reader.delete(keyOf(1))).toThrow(NotPermittedError);
    expect(readMapFdinfo(writer.fd)?.frozen).toBe(false);
    writer.freeze();
    expect(readMapFdinfo(writer.fd)).toMatchObject({ mapId: map.info.id, frozen: true });
    expect(() => writer.update(keyOf(2), valueNumber(2))).toThrow('the map is frozen or was opened read-only');
  });

  it('says what is wrong with a prefix length beyond the key', () => {
    const key = keyOf(1);
    key[0] = 161;
    expect(() => map.update(key, valueNumber(1))).toThrow('Cannot write an entry of map id');
    expect(map.lookup(key, new Uint8Array(BYTES))).toBe(false);
  });
});
