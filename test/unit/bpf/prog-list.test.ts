import { describe, expect, it } from 'vitest';
import { ENOENT, EPERM } from '../../../src/lib/bpf/errno.ts';
import { findMapUsers } from '../../../src/lib/bpf/map-users.ts';
import { objectIds } from '../../../src/lib/bpf/object-ids.ts';
import { listPrograms } from '../../../src/lib/bpf/prog-list.ts';
import { BPF_OBJ_GET_INFO_BY_FD, BPF_PROG_GET_FD_BY_ID, BPF_PROG_GET_NEXT_ID } from '../../../src/lib/bpf/uapi.ts';
import type { BpfAttr } from '../../../src/lib/native/attr.ts';
import { ScriptedKernel } from '../../support/scripted-kernel.ts';

/** A kernel with programs 1 … n; each has the maps given, or is gone when it is opened. */
function kernelWithPrograms(programs: readonly (readonly number[] | 'gone')[]): ScriptedKernel {
  return new ScriptedKernel((cmd, attr) => {
    if (cmd === BPF_PROG_GET_NEXT_ID) {
      const id = attr.getU32(0);
      attr.u32(4, id + 1);
      return id < programs.length ? 0 : -ENOENT;
    }
    const maps = programs[(cmd === BPF_PROG_GET_FD_BY_ID ? attr.getU32(0) : attr.getU32(0) - 100) - 1];
    if (maps === undefined || maps === 'gone') return -ENOENT;
    if (cmd === BPF_PROG_GET_FD_BY_ID) return 100 + attr.getU32(0);
    if (cmd === BPF_OBJ_GET_INFO_BY_FD) return writeInfo(attr, attr.getU32(0) - 100, maps);
    return -EPERM;
  });
}

/** Writes what struct bpf_prog_info has; ids go through the pointer in it, as many as there is room for. */
function writeInfo(attr: BpfAttr, id: number, maps: readonly number[]): number {
  const info = attr.pointers.get(8) ?? new Uint8Array(0);
  const view = new DataView(info.buffer, info.byteOffset, info.byteLength);
  rooms.push(view.getUint32(52, true));
  view.setUint32(0, 3, true);
  view.setUint32(4, id, true);
  view.setUint32(52, maps.length, true);
  info.set(Buffer.from('cil_from_contai'), 64);
  return 0;
}

const rooms: number[] = [];

describe('listPrograms()', () => {
  it('skips a program that went away and closes every descriptor', () => {
    const kernel = kernelWithPrograms([[], 'gone', []]);
    const programs = [...listPrograms(kernel)];
    expect(programs.map(({ id, type, name }) => [id, type, name])).toEqual([
      [1, 'sched_cls', 'cil_from_contai'],
      [3, 'sched_cls', 'cil_from_contai'],
    ]);
    expect(kernel.closed).toEqual([101, 103]);
  });

  it('asks again with more room for a program with many maps', () => {
    rooms.length = 0;
    const [program] = [...listPrograms(kernelWithPrograms([new Array(300).fill(7)]))];
    expect(rooms).toEqual([128, 300]);
    expect(program?.mapIds.length).toBe(300);
  });
});

describe('objectIds()', () => {
  it('ends even if the kernel gives the same id again', () => {
    const stuck = new ScriptedKernel((_, attr) => {
      attr.u32(4, 5);
      return 0;
    });
    expect([...objectIds(stuck, 'map')]).toEqual([5]);
  });
});

describe('findMapUsers()', () => {
  it('says that programs could not be seen, instead of none', () => {
    const { byMap, programsUnseen } = findMapUsers([7], {
      kernel: new ScriptedKernel(() => -EPERM),
      procRoot: '/none',
    });
    expect(programsUnseen).toContain('CAP_SYS_ADMIN');
    expect(byMap.get(7)).toEqual({ programs: [], processes: [] });
  });
});
