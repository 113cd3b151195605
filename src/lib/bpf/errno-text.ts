/** Finds what an errno means for a command of bpf(2): its own row first, then what it means for every command. */
import { EBUSY, EMFILE, ENFILE, ENOMEM, ENOSYS, EPERM, errnoName } from './errno.ts';
import { BATCH, DELETE, NEXT_KEY, READ, UPDATE } from './errno-rows-entry.ts';
import { BY_ID, CREATE, OPEN_PIN, PIN } from './errno-rows-object.ts';
import type { Explanation, Row } from './explanation.ts';
import * as uapi from './uapi.ts';

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
