import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { EBADF, EINVAL, ENOENT } from '../../../src/lib/bpf/errno.ts';
import {
  BPF_MAP_GET_FD_BY_ID,
  BPF_MAP_LOOKUP_ELEM,
  BPF_MAP_UPDATE_BATCH,
  BPF_OBJ_GET,
} from '../../../src/lib/bpf/uapi.ts';
import { BpfAttr } from '../../../src/lib/native/attr.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { realTrie } from '../../support/real-kernel.ts';

const kernel = new LinuxKernel();
const NO_SUCH_COMMAND = 9999;
const UNUSED_ID = 0xffff_fff0;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

describe('LinuxKernel', () => {
  it('bpf() answers the errno of this very call, negated', () => {
    expect(kernel.bpf(BPF_MAP_LOOKUP_ELEM, new BpfAttr().u32(0, 9999).u64(24, 0))).toBe(-EBADF);
    expect(kernel.bpf(NO_SUCH_COMMAND, new BpfAttr().u32(0, 0))).toBe(-EINVAL);
    expect(kernel.bpf(BPF_OBJ_GET, new BpfAttr().cstring(0, '/sys/fs/bpf/ipc-test-none').u32(12, 0))).toBe(-ENOENT);
  });

  it('bpfAsync() answers each of many calls at a time with its own errno', async () => {
    const calls = Array.from({ length: 200 }, (_, n) => {
      if (n % 3 === 0) return [BPF_MAP_LOOKUP_ELEM, new BpfAttr().u32(0, 9999).u64(24, 0), -EBADF] as const;
      if (n % 3 === 1) return [NO_SUCH_COMMAND, new BpfAttr().u32(0, 0), -EINVAL] as const;
      return [BPF_MAP_GET_FD_BY_ID, new BpfAttr().u32(0, UNUSED_ID), -ENOENT] as const;
    });
    const answers = await Promise.all(calls.map(([cmd, attr]) => kernel.bpfAsync(cmd, attr)));
    expect(answers).toEqual(calls.map(([, , wanted]) => wanted));
  });

  it('bpfAsync() keeps buffers alive that nobody else holds', async () => {
    const count = 512;
    using map = realTrie(kernel);
    const start = (round: number): Promise<number> => {
      const keys = new Uint8Array(24 * count);
      const values = new Uint8Array(24 * count).fill(round);
      for (let n = 0; n < count; n++) keys.set([64, 0, 0, 0, 0, 0, 0, 1, 10, round, n >> 8, n & 255], 24 * n);
      const attr = new BpfAttr().ptr(16, keys).ptr(24, values).u32(32, count).u32(36, map.fd).u64(48, 0);
      return kernel.bpfAsync(BPF_MAP_UPDATE_BATCH, attr);
    };
    const pending = start(1);
    collectGarbage();
    expect(await pending).toBe(0);
    const value = new Uint8Array(24);
    for (let n = 0; n < count; n++) {
      const key = new Uint8Array(24);
      key.set([64, 0, 0, 0, 0, 0, 0, 1, 10, 1, n >> 8, n & 255]);
      expect(map.lookup(key, value) && value.every((byte) => byte === 1)).toBe(true);
    }
  });
});
