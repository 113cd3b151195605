/** The structs of a map's keys and values, where the map carries BTF. */
import { NotPermittedError } from '../errors.ts';
import { BpfAttr } from '../native/attr.ts';
import type { Kernel } from '../native/kernel.ts';
import { bpfError } from './bpf-error.ts';
import { Btf, type BtfMember } from './btf.ts';
import { bpfCall } from './call.ts';
import { OwnedFd } from './fd.ts';
import type { BpfMap } from './map.ts';
import { BPF_BTF_GET_FD_BY_ID, BPF_OBJ_GET_INFO_BY_FD } from './uapi.ts';

export interface MapBtf {
  /** Absent where the key is no struct. */
  readonly key?: readonly BtfMember[];
  /** Absent where the value is no struct. */
  readonly value?: readonly BtfMember[];
}

/** struct bpf_btf_info: a pointer, the size and the id. */
const INFO_BYTES = 16;
/** A whole kernel's BTF is smaller; a map's own is a few kilobytes. */
const MAX_BTF_BYTES = 64 * 1024 * 1024;

/**
 * Reads the members of the key's and value's structs; what does not fit the map's sizes is left out.
 * @returns undefined where the map has no BTF, as every map that Cilium's agent makes, or where it may not be read:
 * opening it needs CAP_SYS_ADMIN, and then the map is told by its sizes and content.
 * @throws {MalformedError} code BTF
 */
export function readMapBtf(map: BpfMap): MapBtf | undefined {
  const { btfId, btfKeyTypeId = 0, btfValueTypeId = 0, keyBytes, valueBytes } = map.info;
  if (btfId === undefined) return undefined;
  const bytes = readBtfBytes(map.kernel, btfId, map.label);
  if (bytes === undefined) return undefined;
  const btf = new Btf(bytes);
  const key = btfKeyTypeId === 0 ? undefined : btf.struct(btfKeyTypeId);
  const value = btfValueTypeId === 0 ? undefined : btf.struct(btfValueTypeId);
  return {
    ...(key?.bytes === keyBytes ? { key: key.members } : {}),
    ...(value?.bytes === valueBytes ? { value: value.members } : {}),
  };
}

function readBtfBytes(kernel: Kernel, id: number, label: string): Uint8Array | undefined {
  const action = `read the type information of ${label}`;
  const ret = bpfCall(kernel, BPF_BTF_GET_FD_BY_ID, new BpfAttr().u32(0, id));
  if (ret < 0) {
    const error = bpfError({ cmd: BPF_BTF_GET_FD_BY_ID, errno: -ret, action });
    if (error instanceof NotPermittedError) return undefined;
    throw error;
  }
  using fd = new OwnedFd(kernel, ret);
  const size = btfInfo(kernel, fd.number, action).size;
  const bytes = new Uint8Array(Math.min(size, MAX_BTF_BYTES));
  btfInfo(kernel, fd.number, action, bytes);
  return bytes;
}

/** @param bytes filled with the BTF, where given. */
function btfInfo(kernel: Kernel, fd: number, action: string, bytes?: Uint8Array): { size: number } {
  const info = new BpfAttr(INFO_BYTES).ptr(0, bytes).u32(8, bytes?.length ?? 0);
  const attr = new BpfAttr().u32(0, fd).u32(4, INFO_BYTES).struct(8, info);
  const ret = bpfCall(kernel, BPF_OBJ_GET_INFO_BY_FD, attr);
  if (ret < 0) throw bpfError({ cmd: BPF_OBJ_GET_INFO_BY_FD, errno: -ret, action });
  return { size: info.getU32(8) };
}
