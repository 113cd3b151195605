/** Errnos of the commands that open, make, list and pin objects: kernel/bpf/syscall.c and inode.c of Linux 6.18. */
import { E2BIG, EACCES, EEXIST, EINVAL, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EPERM, EROFS } from './errno.ts';
import type { Row } from './explanation.ts';

export const OPEN_PIN: readonly Row[] = [
  [
    ENOENT,
    {
      kind: 'notFound',
      code: 'MAP_NOT_FOUND',
      state: 'no such pin',
      hint: 'ipc doctor lists the maps and pins of this node',
    },
  ],
  [
    [ENOTDIR, ELOOP, ENAMETOOLONG],
    { kind: 'notFound', code: 'MAP_NOT_FOUND', state: 'no such path', hint: 'check the path given with --map' },
  ],
  [
    EACCES,
    {
      kind: 'notPermitted',
      code: 'NOT_PERMITTED',
      state: 'permission denied on the pin or a directory above it',
      hint: 'reading needs read permission on the pin or CAP_DAC_READ_SEARCH; writing needs read and write permission or CAP_DAC_OVERRIDE',
    },
  ],
  [
    EPERM,
    {
      kind: 'notPermitted',
      code: 'NOT_PERMITTED',
      state: 'the kernel refuses bpf(2) to this user',
      hint: 'before Linux 5.19, or where a seccomp or AppArmor profile denies bpf(2), CAP_BPF is needed besides permission on the pin',
    },
  ],
  [
    EINVAL,
    {
      kind: 'kernelFeature',
      code: 'KERNEL_FEATURE',
      state: 'this kernel does not know read-only descriptors (BPF_F_RDONLY, Linux 4.15)',
      hint: 'Linux 4.16 or newer is needed',
    },
  ],
];

export const BY_ID: readonly Row[] = [
  [
    ENOENT,
    {
      kind: 'notFound',
      code: 'MAP_NOT_FOUND',
      state: 'nothing has this id',
      hint: 'ipc doctor lists the maps of this node',
    },
  ],
  [
    EPERM,
    {
      kind: 'notPermitted',
      code: 'NOT_PERMITTED',
      state: 'objects cannot be looked up by id',
      hint: 'ids, names and programs need CAP_SYS_ADMIN; a map can be opened by the path of its pin without it',
    },
  ],
];

export const CREATE: readonly Row[] = [
  [
    EPERM,
    {
      kind: 'notPermitted',
      code: 'NOT_PERMITTED',
      state: 'this user may not make maps',
      hint: 'creating a map needs CAP_BPF (CAP_SYS_ADMIN before Linux 5.8); before 5.11 also a larger RLIMIT_MEMLOCK (ulimit -l unlimited)',
    },
  ],
  [
    EINVAL,
    {
      kind: 'kernelFeature',
      code: 'KERNEL_FEATURE',
      state: 'this kernel refuses the type, sizes or flags',
      hint: 'an LPM trie needs Linux 4.11 and BPF_F_NO_PREALLOC; BPF_F_RDONLY_PROG (0x80) needs 5.2: try --map-flags 0x1',
    },
  ],
  [E2BIG, { kind: 'failed', code: 'TOO_BIG', state: 'the map would be too big', hint: 'lower the number of entries' }],
];

export const PIN: readonly Row[] = [
  [
    EEXIST,
    { kind: 'failed', code: 'PIN_EXISTS', state: 'something is pinned there already', hint: 'choose another path' },
  ],
  [
    EPERM,
    {
      kind: 'notPermitted',
      code: 'NOT_PERMITTED',
      state: 'the kernel refuses to pin it there: a dot in the name, or bpf(2) denied to this user',
      hint: 'choose a name without a dot; before Linux 5.19, or in a container, CAP_BPF may be needed too',
    },
  ],
  [
    EACCES,
    {
      kind: 'notPermitted',
      code: 'NOT_PERMITTED',
      state: 'permission denied on the directory',
      hint: "pinning needs write permission on the directory or CAP_DAC_OVERRIDE; AppArmor's container default denies writes below bpffs",
    },
  ],
  [EROFS, { kind: 'notPermitted', code: 'NOT_PERMITTED', state: 'the bpf filesystem is mounted read-only' }],
  [
    [ENOENT, ENOTDIR],
    { kind: 'notFound', code: 'NOT_FOUND', state: 'the directory does not exist', hint: 'make the directory first' },
  ],
];
