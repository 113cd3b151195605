import { expect, it } from 'vitest';
import { BpfMap } from '../../../src/lib/bpf/map.ts';
import { readMapBtf } from '../../../src/lib/bpf/map-btf.ts';
import { readMapInfo } from '../../../src/lib/bpf/map-info.ts';
import { BPF_BTF_LOAD, BPF_F_NO_PREALLOC, BPF_MAP_CREATE, BPF_MAP_TYPE_LPM_TRIE } from '../../../src/lib/bpf/uapi.ts';
import { BpfAttr } from '../../../src/lib/native/attr.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { ipcacheBtf } from '../../support/btf-bytes.ts';
import { bpfDescriptors, realTrie } from '../../support/real-kernel.ts';

const kernel = new LinuxKernel();

/** A trie with type information, as a maker other than Cilium's agent may create it. */
function trieWithBtf(): BpfMap {
  const { bytes, keyType, valueType } = ipcacheBtf();
  const log = new Uint8Array(8192);
  const load = new BpfAttr().ptr(0, bytes).ptr(8, log).u32(16, bytes.length).u32(20, log.length).u32(24, 1);
  const btf = kernel.bpf(BPF_BTF_LOAD, load);
  if (btf < 0) throw new Error(`BPF_BTF_LOAD: errno ${-btf}: ${Buffer.from(log).toString()}`);
  const attr = new BpfAttr()
    .u32(0, BPF_MAP_TYPE_LPM_TRIE)
    .u32(4, 24)
    .u32(8, 24)
    .u32(12, 16)
    .u32(16, BPF_F_NO_PREALLOC)
    .u32(48, btf)
    .u32(52, keyType)
    .u32(56, valueType);
  const fd = kernel.bpf(BPF_MAP_CREATE, attr);
  kernel.close(btf);
  if (fd < 0) throw new Error(`BPF_MAP_CREATE: errno ${-fd}`);
  return new BpfMap({ kernel, fd, info: readMapInfo(kernel, fd) });
}

it('readMapBtf() reads the members of key and value from the kernel', () => {
  const before = bpfDescriptors();
  {
    using map = trieWithBtf();
    const btf = readMapBtf(map);
    expect(btf?.key).toContainEqual({ name: 'cluster_id', bitOffset: 32, bytes: 2 });
    expect(btf?.key).toContainEqual({ name: 'ip6', bitOffset: 64, bytes: 16 });
    expect(btf?.value).toContainEqual({ name: 'tunnel_endpoint', bitOffset: 32, bytes: 16 });
    expect(btf?.value).toContainEqual({ name: 'flag_has_tunnel_ep', bitOffset: 185, bytes: 1, bitSize: 1 });
  }
  expect(bpfDescriptors()).toBe(before);
});

it('readMapBtf() is undefined for a map without type information', () => {
  using map = realTrie(kernel);
  expect(readMapBtf(map)).toBeUndefined();
});
