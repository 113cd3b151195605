/** Errnos of the commands on the entries of a map: kernel/bpf/syscall.c and lpm_trie.c of Linux 6.18. */
import { E2BIG, EEXIST, EINVAL, ENOENT, ENOSPC, ENOTSUPP, EOPNOTSUPP, EPERM } from './errno.ts';
import type { Row } from './explanation.ts';

const UNSUPPORTED = [EINVAL, ENOTSUPP, EOPNOTSUPP];

const NO_WRITE: Row = [
  EPERM,
  {
    kind: 'notPermitted',
    code: 'NOT_PERMITTED',
    state: 'the map is frozen or was opened read-only',
    hint: 'a frozen map never takes changes from user space',
  },
];

export const UPDATE: readonly Row[] = [
  NO_WRITE,
  [
    [ENOSPC, E2BIG],
    {
      kind: 'failed',
      code: 'MAP_FULL',
      state: 'the map is full',
      hint: 'ipc doctor shows entries and size of the maps; ipc gc removes what is stale',
    },
  ],
  [EEXIST, { kind: 'failed', code: 'ENTRY_EXISTS', state: 'the entry exists already' }],
  [ENOENT, { kind: 'noEntry', code: 'NO_ENTRY', state: 'there is no such entry' }],
  [
    EINVAL,
    {
      kind: 'failed',
      code: 'BAD_KEY',
      state: 'the kernel refuses the key or the update flags',
      hint: 'a prefix length beyond the key, or flags this kernel does not know for LPM tries',
    },
  ],
];

export const DELETE: readonly Row[] = [
  NO_WRITE,
  [ENOENT, { kind: 'noEntry', code: 'NO_ENTRY', state: 'there is no such entry' }],
  [
    EINVAL,
    { kind: 'failed', code: 'BAD_KEY', state: 'the kernel refuses the key', hint: 'a prefix length beyond the key' },
  ],
];

export const READ: readonly Row[] = [
  [EPERM, { kind: 'notPermitted', code: 'NOT_PERMITTED', state: 'the map cannot be read through this descriptor' }],
  [ENOENT, { kind: 'noEntry', code: 'NO_ENTRY', state: 'there is no such entry' }],
];

export const NEXT_KEY: readonly Row[] = [
  [
    UNSUPPORTED,
    {
      kind: 'kernelFeature',
      code: 'KERNEL_FEATURE',
      state: 'this kernel cannot list an LPM trie (BPF_MAP_GET_NEXT_KEY, Linux 4.16)',
      hint: 'Linux 4.16 or newer is needed',
    },
  ],
  ...READ,
];

export const BATCH: Row = [
  UNSUPPORTED,
  {
    kind: 'kernelFeature',
    code: 'KERNEL_FEATURE',
    state: 'this kernel has no batch operations on LPM tries (Linux 5.13)',
    hint: 'Linux 5.13 or newer is needed',
  },
];
