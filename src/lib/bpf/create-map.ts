/** BPF_MAP_CREATE. */
import { BpfAttr } from '../native/attr.ts';
import type { Kernel } from '../native/kernel.ts';
import { bpfError } from './bpf-error.ts';
import { bpfCall } from './call.ts';
import { OwnedFd } from './fd.ts';
import { BpfMap } from './map.ts';
import { readMapInfo } from './map-info.ts';
import { BPF_MAP_CREATE, BPF_OBJ_NAME_LEN } from './uapi.ts';

export interface MapSpec {
  /** enum bpf_map_type. */
  readonly type: number;
  readonly keyBytes: number;
  readonly valueBytes: number;
  readonly maxEntries: number;
  /** BPF_F_*; an LPM trie must have BPF_F_NO_PREALLOC. */
  readonly flags: number;
  /** Cut to 15 characters, as Cilium's are; letters, digits, `_` and `.` only. */
  readonly name?: string | undefined;
}

/**
 * Makes a map; without a pin it lives as long as its descriptors. Its memory is charged to this process's cgroup.
 * @throws {NotPermittedError} without CAP_BPF. @throws {KernelFeatureError} type, sizes or flags this kernel refuses.
 */
export function createMap(kernel: Kernel, spec: MapSpec): BpfMap {
  const attr = new BpfAttr()
    .u32(0, spec.type)
    .u32(4, spec.keyBytes)
    .u32(8, spec.valueBytes)
    .u32(12, spec.maxEntries)
    .u32(16, spec.flags);
  if (spec.name !== undefined) attr.inlineName(28, spec.name, BPF_OBJ_NAME_LEN);
  const ret = bpfCall(kernel, BPF_MAP_CREATE, attr);
  if (ret < 0) throw bpfError({ cmd: BPF_MAP_CREATE, errno: -ret, action: `create ${describe(spec)}` });
  using fd = new OwnedFd(kernel, ret);
  const info = readMapInfo(kernel, ret, 'the new map');
  return new BpfMap({ kernel, fd: fd.release(), info });
}

function describe({ name, maxEntries, flags }: MapSpec): string {
  return `map ${name === undefined ? '' : `${name} `}(${maxEntries} entries, flags 0x${flags.toString(16)})`;
}
