/** All loaded programs of the machine and the maps they use: `struct bpf_prog_info` of linux/uapi/linux/bpf.h. */
import { BpfAttr } from '../native/attr.ts';
import type { Kernel } from '../native/kernel.ts';
import { bpfError } from './bpf-error.ts';
import { bpfCall } from './call.ts';
import { decodeName } from './map-info.ts';
import { objectIds, openById } from './object-ids.ts';
import { programTypeName } from './type-names.ts';
import { BPF_OBJ_GET_INFO_BY_FD, BPF_OBJ_NAME_LEN } from './uapi.ts';

export interface Program {
  readonly id: number;
  /** Up to 15 characters; empty where it has none. */
  readonly name: string;
  /** As bpftool spells it, `sched_cls`. */
  readonly type: string;
  readonly mapIds: readonly number[];
}

/** Up to and including the name; everything behind it is not asked for. */
const INFO_BYTES = 80;
/** Enough for nearly every program; one with more is asked again. */
const FIRST_MAP_IDS = 128;

/** Every loaded program, by growing id. @throws {NotPermittedError} without CAP_SYS_ADMIN. */
export function* listPrograms(kernel: Kernel): Generator<Program, void> {
  for (const id of objectIds(kernel, 'program')) {
    using fd = openById(kernel, 'program', id);
    if (fd !== undefined) yield readProgram(kernel, fd.number, FIRST_MAP_IDS);
  }
}

function readProgram(kernel: Kernel, fd: number, room: number): Program {
  const mapIds = new Uint8Array(room * 4);
  const info = new BpfAttr(INFO_BYTES).u32(52, room).ptr(56, mapIds);
  const attr = new BpfAttr().u32(0, fd).u32(4, INFO_BYTES).struct(8, info);
  const ret = bpfCall(kernel, BPF_OBJ_GET_INFO_BY_FD, attr);
  if (ret < 0) throw bpfError({ cmd: BPF_OBJ_GET_INFO_BY_FD, errno: -ret, action: 'read the info of a program' });
  const count = info.getU32(52);
  if (count > room) return readProgram(kernel, fd, count);
  const view = new DataView(mapIds.buffer);
  return {
    type: programTypeName(info.getU32(0)),
    id: info.getU32(4),
    name: decodeName(info.bytes.subarray(64, 64 + BPF_OBJ_NAME_LEN)),
    mapIds: Array.from({ length: count }, (_, index) => view.getUint32(index * 4, true)),
  };
}
