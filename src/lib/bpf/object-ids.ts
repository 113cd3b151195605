/** Walks over the ids of all maps or programs of the machine; needs CAP_SYS_ADMIN. */
import { BpfAttr } from '../native/attr.ts';
import type { Kernel } from '../native/kernel.ts';
import { bpfError } from './bpf-error.ts';
import { bpfCall } from './call.ts';
import { ENOENT } from './errno.ts';
import { OwnedFd } from './fd.ts';
import {
  BPF_F_RDONLY,
  BPF_MAP_GET_FD_BY_ID,
  BPF_MAP_GET_NEXT_ID,
  BPF_PROG_GET_FD_BY_ID,
  BPF_PROG_GET_NEXT_ID,
} from './uapi.ts';

export type ObjectKind = 'map' | 'program';

const NEXT_ID = { map: BPF_MAP_GET_NEXT_ID, program: BPF_PROG_GET_NEXT_ID } as const;
const FD_BY_ID = { map: BPF_MAP_GET_FD_BY_ID, program: BPF_PROG_GET_FD_BY_ID } as const;

/** Ids grow, so the walk ends; objects that come and go meanwhile may or may not be in it. @throws {NotPermittedError} */
export function* objectIds(kernel: Kernel, kind: ObjectKind): Generator<number, void> {
  const attr = new BpfAttr();
  for (let id = 0; ; ) {
    const ret = bpfCall(kernel, NEXT_ID[kind], attr.u32(0, id).u32(4, 0));
    if (ret === -ENOENT) return;
    if (ret < 0) throw bpfError({ cmd: NEXT_ID[kind], errno: -ret, action: `list the ${kind}s of this node` });
    const next = attr.getU32(4);
    if (next <= id) return;
    id = next;
    yield id;
  }
}

/**
 * Opens an object by id. @param write a map only: otherwise the descriptor is read-only.
 * @returns undefined when nothing has this id (any more). @throws {NotPermittedError} without CAP_SYS_ADMIN.
 */
export function openById(kernel: Kernel, kind: ObjectKind, id: number, write = false): OwnedFd | undefined {
  const attr = new BpfAttr().u32(0, id);
  if (kind === 'map' && !write) attr.u32(8, BPF_F_RDONLY);
  const ret = bpfCall(kernel, FD_BY_ID[kind], attr);
  if (ret >= 0) return new OwnedFd(kernel, ret);
  if (ret === -ENOENT) return undefined;
  throw bpfError({ cmd: FD_BY_ID[kind], errno: -ret, action: `open ${kind} id:${id}`, operands: { id } });
}
