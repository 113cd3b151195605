import { describe, expect, it } from 'vitest';
import { EINTR, ENOMEM } from '../../../src/lib/bpf/errno.ts';
import { BpfMap } from '../../../src/lib/bpf/map.ts';
import { BPF_EXIST, BPF_F_RDONLY_PROG, BPF_MAP_UPDATE_ELEM, BPF_NOEXIST } from '../../../src/lib/bpf/uapi.ts';
import { NoEntryError, NotPermittedError } from '../../../src/lib/errors.ts';
import { FakeKernel } from '../../support/fake-kernel.ts';
import { hexTo } from '../../support/hex.ts';
import { ScriptedKernel } from '../../support/scripted-kernel.ts';

const KEY = hexTo(24, '38000000 00000001 0a000000');
const VALUE = hexTo(24, '07000001');

const INFO = { id: 7, type: 11, keyBytes: 24, valueBytes: 24, maxEntries: 9, flags: BPF_F_RDONLY_PROG, name: 'x' };

describe('BpfMap', () => {
  it('update(), lookup() and delete() pass key, value and flags where the kernel looks for them', () => {
    const kernel = new ScriptedKernel(() => 0);
    const map = new BpfMap({ kernel, fd: 5, info: INFO });
    const out = new Uint8Array(24);
    map.update(KEY, VALUE, BPF_EXIST);
    map.lookup(KEY, out);
    map.delete(KEY);
    map.nextKey(undefined, out);
    map.nextKey(KEY, out);
    const seen = kernel.calls.map(({ cmd, attr }) => [cmd, attr.getU32(0), attr.pointers.get(16), attr.size]);
    expect(seen).toEqual([
      [2, 5, VALUE, 32],
      [1, 5, out, 32],
      // Bytes behind the key would be refused with EINVAL.
      [3, 5, undefined, 16],
      [4, 5, out, 24],
      [4, 5, out, 24],
    ]);
    expect(kernel.calls[0]?.attr.getU64(24)).toBe(BigInt(BPF_EXIST));
  });

  it('lookup(), delete() and nextKey() answer false for what is not there', () => {
    const { map } = new FakeKernel().createMap();
    const out = new Uint8Array(24);
    expect(map.lookup(KEY, out)).toBe(false);
    expect(map.delete(KEY)).toBe(false);
    expect(map.nextKey(undefined, out)).toBe(false);
  });

  it('update() tells existing from missing entries', () => {
    const { map } = new FakeKernel().createMap();
    expect(() => map.update(KEY, VALUE, BPF_EXIST)).toThrow(NoEntryError);
    map.update(KEY, VALUE);
    expect(() => map.update(KEY, VALUE, BPF_NOEXIST)).toThrow('the entry exists already');
  });

  it('repeats an interrupted call, but not for ever', () => {
    const kernel = new FakeKernel();
    const { map } = kernel.createMap();
    kernel.fail(BPF_MAP_UPDATE_ELEM, EINTR, { times: 3 });
    map.update(KEY, VALUE);
    expect(kernel.calls.get(BPF_MAP_UPDATE_ELEM)).toBe(4);
    kernel.fail(BPF_MAP_UPDATE_ELEM, EINTR, { times: 1000 });
    expect(() => map.update(KEY, VALUE)).toThrow('EINTR');
  });

  it('carries errno, syscall, pin and id in its errors', () => {
    const kernel = new ScriptedKernel(() => -ENOMEM);
    const map = new BpfMap({ kernel, fd: 5, info: INFO, path: '/sys/fs/bpf/m' });
    expect(() => map.update(KEY, VALUE)).toThrow(
      expect.objectContaining({
        message: 'Cannot write an entry of map /sys/fs/bpf/m: the kernel has no memory for it',
        operands: { mapId: 7, path: '/sys/fs/bpf/m', errno: 'ENOMEM', syscall: 'BPF_MAP_UPDATE_ELEM' },
      }),
    );
  });

  it('refuses buffers that the kernel would run over', () => {
    const kernel = new ScriptedKernel(() => 0);
    const map = new BpfMap({ kernel, fd: 5, info: INFO });
    expect(() => map.lookup(new Uint8Array(23), VALUE)).toThrow(RangeError);
    expect(() => map.lookup(KEY, new Uint8Array(12))).toThrow(RangeError);
    expect(() => map.nextKey(undefined, new Uint8Array(4))).toThrow(RangeError);
    expect(() => map.nextKey(new Uint8Array(4), new Uint8Array(24))).toThrow(RangeError);
    expect(() => map.updateBatch(KEY, VALUE, 2)).toThrow(RangeError);
    expect(kernel.calls).toEqual([]);
  });

  it('freeze() makes every later change fail as not permitted', () => {
    const { map } = new FakeKernel().createMap();
    map.freeze();
    expect(() => map.update(KEY, VALUE)).toThrow(NotPermittedError);
  });

  it('closes its descriptor once', () => {
    const kernel = new ScriptedKernel(() => 0);
    const map = new BpfMap({ kernel, fd: 5, info: INFO });
    map[Symbol.dispose]();
    map[Symbol.dispose]();
    expect(kernel.closed).toEqual([5]);
  });
});
