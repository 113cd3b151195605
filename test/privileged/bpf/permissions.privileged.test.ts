import { chmodSync, mkdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findIpcachePin } from '../../../src/lib/bpf/find-pin.ts';
import type { BpfMap } from '../../../src/lib/bpf/map.ts';
import { findMapUsers } from '../../../src/lib/bpf/map-users.ts';
import { openMap } from '../../../src/lib/bpf/open-map.ts';
import { openPin } from '../../../src/lib/bpf/open-pin.ts';
import { pinMap, unpin } from '../../../src/lib/bpf/pin.ts';
import { EXIT, ToolError } from '../../../src/lib/errors.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { bpfDescriptors, type PinDirectory, pinDirectory, realTrie } from '../../support/real-kernel.ts';

const NOBODY = 65534;
const kernel = new LinuxKernel();
let directory: PinDirectory;
let map: BpfMap;
let pin: string;
let before: number;

beforeEach(() => {
  before = bpfDescriptors();
  directory = pinDirectory('permissions');
  mkdirSync(`${directory.path}/tc/globals`, { recursive: true });
  pin = `${directory.path}/tc/globals/cilium_ipcache_v2`;
  map = realTrie(kernel);
  pinMap(map, pin);
});
afterEach(() => {
  map[Symbol.dispose]();
  directory[Symbol.dispose]();
  expect(bpfDescriptors()).toBe(before);
});

/** Runs with another user's rights; an effective uid other than 0 has no capabilities. */
function asNobody<T>(call: () => T): T {
  const groups = process.getgroups?.() ?? [];
  process.setgroups?.([]);
  process.setegid?.(NOBODY);
  process.seteuid?.(NOBODY);
  try {
    return call();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
    process.setgroups?.(groups);
  }
}

function refusal(call: () => unknown): ToolError {
  try {
    asNobody(call);
  } catch (error) {
    if (error instanceof ToolError) return error;
    throw error;
  }
  throw new Error('it was permitted');
}

describe('op 50 without permission', () => {
  it('reading a pin: 5, and what reading needs', () => {
    const error = refusal(() => openPin(pin, { kernel }));
    expect(error).toMatchObject({
      exitCode: EXIT.notPermitted,
      message: `Cannot open map ${pin}: no permission to read this pin`,
      operands: { path: pin, errno: 'EACCES', syscall: 'BPF_OBJ_GET' },
    });
    expect(error.hint).toContain('CAP_DAC_READ_SEARCH');
  });

  it('a directory above the pin that may not be searched reads the same', () => {
    chmodSync(directory.path, 0o700);
    expect(refusal(() => openPin(pin, { kernel })).hint).toContain('CAP_DAC_READ_SEARCH');
    expect(refusal(() => openPin(`${directory.path}/tc/none`, { kernel })).exitCode).toBe(EXIT.notPermitted);
  });

  it('writing a pin that may be read: 5, and what writing needs', () => {
    chmodSync(pin, 0o644);
    using reader = asNobody(() => openPin(pin, { kernel }));
    expect(reader.info.id).toBe(map.info.id);
    const error = refusal(() => openPin(pin, { kernel, write: true }));
    expect(error.exitCode).toBe(EXIT.notPermitted);
    expect(error.hint).toContain('CAP_DAC_OVERRIDE');
  });

  it('creating: 5, and CAP_BPF', () => {
    const error = refusal(() => realTrie(kernel));
    expect(error).toMatchObject({
      exitCode: EXIT.notPermitted,
      operands: { errno: 'EPERM', syscall: 'BPF_MAP_CREATE' },
    });
    expect(error.hint).toContain('CAP_BPF');
  });

  it.each([
    ['id:N', () => openMap({ kind: 'id', id: map.info.id }, { kernel })],
    ['name:NAME', () => openMap({ kind: 'name', name: 'ipc_test' }, { kernel })],
    ['datapath', () => openMap({ kind: 'datapath' }, { kernel })],
  ])('%s: 5, and CAP_SYS_ADMIN', (_, open) => {
    const error = refusal(open);
    expect(error).toMatchObject({ exitCode: EXIT.notPermitted, operands: { errno: 'EPERM' } });
    expect(error.hint).toContain('CAP_SYS_ADMIN');
  });

  it('pinning and unpinning: 5, and the directory', () => {
    const texts = [() => pinMap(map, `${directory.path}/tc/x`), () => unpin(pin)].map((call) => {
      const error = refusal(call);
      expect(error.exitCode).toBe(EXIT.notPermitted);
      return error.message;
    });
    for (const text of texts) expect(text).toContain('permission denied on the directory');
  });

  it('looking for the pin: 5, never the other pin instead', () => {
    using old = realTrie(kernel, { valueBytes: 12 });
    pinMap(old, `${directory.path}/tc/globals/cilium_ipcache`);
    chmodSync(`${directory.path}/tc/globals/cilium_ipcache`, 0o644);
    const error = refusal(() => findIpcachePin({ kernel, roots: [directory.path] }));
    expect([error.exitCode, error.operands.path]).toEqual([EXIT.notPermitted, pin]);
  });

  it('looking for users: says what could not be seen', () => {
    const users = asNobody(() => findMapUsers([map.info.id], { kernel }));
    expect(users.programsUnseen).toContain('CAP_SYS_ADMIN');
    expect(users.processesUnseen).toContain('may not be looked at');
  });
});
