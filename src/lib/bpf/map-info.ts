/** What the kernel says about a map: `struct bpf_map_info` of linux/uapi/linux/bpf.h. */
import { BpfAttr } from '../native/attr.ts';
import type { Kernel } from '../native/kernel.ts';
import { bpfError } from './bpf-error.ts';
import { bpfCall } from './call.ts';
import { BPF_OBJ_GET_INFO_BY_FD, BPF_OBJ_NAME_LEN } from './uapi.ts';

export interface MapInfo {
  readonly id: number;
  /** enum bpf_map_type; 11 is an LPM trie. */
  readonly type: number;
  readonly keyBytes: number;
  readonly valueBytes: number;
  readonly maxEntries: number;
  /** BPF_F_* as given at creation. */
  readonly flags: number;
  /** Up to 15 characters; empty where the map has none. */
  readonly name: string;
  /** Absent where the map carries no BTF, as real ipcache maps. */
  readonly btfId?: number;
  readonly btfKeyTypeId?: number;
  readonly btfValueTypeId?: number;
}

const INFO_BYTES = 80;

/**
 * Asks for the info of an open map; needs nothing but the descriptor (Linux 4.13).
 * @param what names the map in the error, `map /sys/fs/bpf/x`.
 * @throws {FailedError} where the kernel does not answer.
 */
export function readMapInfo(kernel: Kernel, fd: number, what = 'a map'): MapInfo {
  const info = new BpfAttr(INFO_BYTES);
  const attr = new BpfAttr().u32(0, fd).u32(4, INFO_BYTES).struct(8, info);
  const ret = bpfCall(kernel, BPF_OBJ_GET_INFO_BY_FD, attr);
  if (ret < 0) throw bpfError({ cmd: BPF_OBJ_GET_INFO_BY_FD, errno: -ret, action: `read the info of ${what}` });
  const btfId = info.getU32(64);
  return {
    type: info.getU32(0),
    id: info.getU32(4),
    keyBytes: info.getU32(8),
    valueBytes: info.getU32(12),
    maxEntries: info.getU32(16),
    flags: info.getU32(20),
    name: decodeName(info.bytes.subarray(24, 24 + BPF_OBJ_NAME_LEN)),
    ...(btfId === 0 ? {} : { btfId, btfKeyTypeId: info.getU32(68), btfValueTypeId: info.getU32(72) }),
  };
}

/** A name of the kernel's: bytes up to the first NUL. */
export function decodeName(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return new TextDecoder('latin1').decode(end < 0 ? bytes : bytes.subarray(0, end));
}
