/** What tests on the real kernel share: a directory of their own on bpffs, maps, and descriptors that are counted. */
import { mkdirSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { createMap, type MapSpec } from '../../src/lib/bpf/create-map.ts';
import type { BpfMap } from '../../src/lib/bpf/map.ts';
import { BPF_F_NO_PREALLOC, BPF_MAP_TYPE_LPM_TRIE } from '../../src/lib/bpf/uapi.ts';
import type { Kernel } from '../../src/lib/native/kernel.ts';

export interface PinDirectory extends Disposable {
  readonly path: string;
}

/** An empty `/sys/fs/bpf/ipc-test-NAME`; what a killed run left there is removed first. */
export function pinDirectory(name: string): PinDirectory {
  const path = `/sys/fs/bpf/ipc-test-${name}`;
  const remove = () => rmSync(path, { recursive: true, force: true });
  remove();
  mkdirSync(path);
  return { path, [Symbol.dispose]: remove };
}

/** A trie of the ipcache's shape, or as `spec` says. */
export function realTrie(kernel: Kernel, spec: Partial<MapSpec> = {}): BpfMap {
  return createMap(kernel, {
    type: BPF_MAP_TYPE_LPM_TRIE,
    keyBytes: 24,
    valueBytes: 24,
    maxEntries: 1000,
    flags: BPF_F_NO_PREALLOC,
    name: 'ipc_test',
    ...spec,
  });
}

/** Descriptors of this process that are BPF objects; others come and go with the test runner. */
export function bpfDescriptors(): number {
  let count = 0;
  for (const fd of readdirSync('/proc/self/fd')) {
    try {
      if (/^anon_inode:\[?bpf[-_]|^anon_inode:btf/.test(readlinkSync(`/proc/self/fd/${fd}`))) count++;
    } catch {
      // The descriptor of the directory listing itself.
    }
  }
  return count;
}
