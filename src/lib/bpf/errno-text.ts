/** What an errno means for each command of bpf(2): class of error, stable code, sentence, next step. Rows of data. */
import {
  type ErrorOperands,
  FailedError,
  KernelFeatureError,
  NoEntryError,
  NotFoundError,
  NotPermittedError,
  type ToolError,
} from '../errors.ts';
import {
  E2BIG,
  EACCES,
  EBUSY,
  EEXIST,
  EINVAL,
  ELOOP,
  EMFILE,
  ENAMETOOLONG,
  ENFILE,
  ENOENT,
  ENOMEM,
  ENOSPC,
  ENOSYS,
  ENOTDIR,
  ENOTSUPP,
  EOPNOTSUPP,
  EPERM,
  EROFS,
  errnoName,
} from './errno.ts';
import * as uapi from './uapi.ts';

export interface Explanation {
  readonly kind: 'failed' | 'notFound' | 'noEntry' | 'notPermitted' | 'kernelFeature';
  readonly code: string;
  /** The state, to follow *Cannot <action>:*. */
  readonly state: string;
  readonly hint?: string | undefined;
}

type Row = readonly [errno: number | readonly number[], explanation: Explanation];

const UNSUPPORTED = [EINVAL, ENOTSUPP, EOPNOTSUPP];

const ANY_COMMAND: readonly Row[] = [
  [
    ENOSYS,
    {
      kind: 'kernelFeature',
      code: 'KERNEL_FEATURE',
      state: 'this kernel has no bpf(2)',
      hint: 'a kernel with CONFIG_BPF_SYSCALL is needed, Linux 4.16 or newer',
    },
  ],
  [
    [EMFILE, ENFILE],
    {
      kind: 'failed',
      code: 'TOO_MANY_FILES',
      state: 'too many open files',
      hint: 'raise the limit of open files (ulimit -n)',
    },
  ],
  [
    ENOMEM,
    {
      kind: 'failed',
      code: 'NO_MEMORY',
      state: 'the kernel has no memory for it',
      hint: 'BPF memory is charged to the cgroup of whoever made the map: look at its memory limit',
    },
  ],
  [EBUSY, { kind: 'failed', code: 'BUSY', state: 'the map is busy', hint: 'try again' }],
  [
    EPERM,
    {
      kind: 'notPermitted',
      code: 'NOT_PERMITTED',
      state: 'the kernel refuses it to this user',
      hint: 'it needs CAP_BPF (CAP_SYS_ADMIN before Linux 5.8); in a container, a seccomp or AppArmor profile may deny bpf(2)',
    },
  ],
];

const OPEN_PIN: readonly Row[] = [
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

const BY_ID: readonly Row[] = [
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

const CREATE: readonly Row[] = [
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

const PIN: readonly Row[] = [
  [
    EEXIST,
    { kind: 'failed', code: 'PIN_EXISTS', state: 'something is pinned there already', hint: 'choose another path' },
  ],
  [
    EPERM,
    {
      kind: 'notPermitted',
      code: 'NOT_PERMITTED',
      state: 'the directory is not on a bpf filesystem, or the name has a dot in it',
      hint: 'mount one (mount -t bpf bpf /sys/fs/bpf) and pin below it, without a dot in the name',
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

const NO_WRITE: Row = [
  EPERM,
  {
    kind: 'notPermitted',
    code: 'NOT_PERMITTED',
    state: 'the map is frozen or was opened read-only',
    hint: 'a frozen map never takes changes from user space',
  },
];

const UPDATE: readonly Row[] = [
  NO_WRITE,
  [
    [ENOSPC, E2BIG],
    {
      kind: 'failed',
      code: 'MAP_FULL',
      state: 'the map is full',
      hint: 'ipc stats shows the pressure and what fills it; ipc gc removes what is stale',
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

const DELETE: readonly Row[] = [
  NO_WRITE,
  [ENOENT, { kind: 'noEntry', code: 'NO_ENTRY', state: 'there is no such entry' }],
  [
    EINVAL,
    { kind: 'failed', code: 'BAD_KEY', state: 'the kernel refuses the key', hint: 'a prefix length beyond the key' },
  ],
];

const READ: readonly Row[] = [
  [EPERM, { kind: 'notPermitted', code: 'NOT_PERMITTED', state: 'the map cannot be read through this descriptor' }],
  [ENOENT, { kind: 'noEntry', code: 'NO_ENTRY', state: 'there is no such entry' }],
];

const NEXT_KEY: readonly Row[] = [
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

const BATCH: Row = [
  UNSUPPORTED,
  {
    kind: 'kernelFeature',
    code: 'KERNEL_FEATURE',
    state: 'this kernel has no batch operations on LPM tries (Linux 5.13)',
    hint: 'Linux 5.13 or newer is needed',
  },
];

const TABLES: Readonly<Record<number, readonly Row[]>> = {
  [uapi.BPF_OBJ_GET]: OPEN_PIN,
  [uapi.BPF_MAP_GET_FD_BY_ID]: BY_ID,
  [uapi.BPF_MAP_GET_NEXT_ID]: BY_ID,
  [uapi.BPF_PROG_GET_FD_BY_ID]: BY_ID,
  [uapi.BPF_PROG_GET_NEXT_ID]: BY_ID,
  [uapi.BPF_BTF_GET_FD_BY_ID]: BY_ID,
  [uapi.BPF_MAP_CREATE]: CREATE,
  [uapi.BPF_OBJ_PIN]: PIN,
  [uapi.BPF_MAP_UPDATE_ELEM]: UPDATE,
  [uapi.BPF_MAP_UPDATE_BATCH]: [BATCH, ...UPDATE],
  [uapi.BPF_MAP_DELETE_ELEM]: DELETE,
  [uapi.BPF_MAP_DELETE_BATCH]: [BATCH, ...DELETE],
  [uapi.BPF_MAP_LOOKUP_ELEM]: READ,
  [uapi.BPF_MAP_LOOKUP_BATCH]: [BATCH, ...READ],
  [uapi.BPF_MAP_GET_NEXT_KEY]: NEXT_KEY,
};

/** The most specific explanation: the command's own row, else one for every command, else the bare number. */
export function explainErrno(cmd: number, errno: number): Explanation {
  const matches = ([numbers]: Row) => (typeof numbers === 'number' ? numbers === errno : numbers.includes(errno));
  const row = TABLES[cmd]?.find(matches) ?? ANY_COMMAND.find(matches);
  return row?.[1] ?? { kind: 'failed', code: 'FAILED', state: `the kernel answers ${errnoName(errno)}` };
}

const CLASSES = {
  failed: FailedError,
  notFound: NotFoundError,
  noEntry: NoEntryError,
  notPermitted: NotPermittedError,
  kernelFeature: KernelFeatureError,
} as const;

/** An error of the class that the explanation names. */
export function makeError(message: string, explanation: Explanation, operands: ErrorOperands): ToolError {
  const { kind, code, hint } = explanation;
  return new CLASSES[kind](message, { code, ...(hint === undefined ? {} : { hint }), operands });
}
