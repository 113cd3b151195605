import { describe, expect, it } from 'vitest';
import { bpfError, errnoOf } from '../../../src/lib/bpf/bpf-error.ts';
import * as errno from '../../../src/lib/bpf/errno.ts';
import * as uapi from '../../../src/lib/bpf/uapi.ts';
import { EXIT as exit } from '../../../src/lib/errors.ts';

describe('bpfError()', () => {
  it.each([
    [uapi.BPF_OBJ_GET, errno.ENOENT, exit.notFound, 'MAP_NOT_FOUND', 'no such pin'],
    [uapi.BPF_OBJ_GET, errno.ENOTDIR, exit.notFound, 'MAP_NOT_FOUND', 'no such path'],
    [uapi.BPF_OBJ_GET, errno.EACCES, exit.notPermitted, 'NOT_PERMITTED', 'CAP_DAC_READ_SEARCH'],
    [uapi.BPF_OBJ_GET, errno.EPERM, exit.notPermitted, 'NOT_PERMITTED', 'CAP_BPF'],
    [uapi.BPF_OBJ_GET, errno.EINVAL, exit.kernelFeature, 'KERNEL_FEATURE', '4.15'],
    [uapi.BPF_OBJ_GET, errno.EMFILE, exit.failed, 'TOO_MANY_FILES', 'open files'],
    [uapi.BPF_MAP_GET_FD_BY_ID, errno.EPERM, exit.notPermitted, 'NOT_PERMITTED', 'CAP_SYS_ADMIN'],
    [uapi.BPF_PROG_GET_NEXT_ID, errno.EPERM, exit.notPermitted, 'NOT_PERMITTED', 'CAP_SYS_ADMIN'],
    [uapi.BPF_MAP_CREATE, errno.EPERM, exit.notPermitted, 'NOT_PERMITTED', 'CAP_BPF'],
    [uapi.BPF_MAP_CREATE, errno.EINVAL, exit.kernelFeature, 'KERNEL_FEATURE', '5.2'],
    [uapi.BPF_MAP_CREATE, errno.E2BIG, exit.failed, 'TOO_BIG', 'too big'],
    [uapi.BPF_MAP_CREATE, errno.ENOMEM, exit.failed, 'NO_MEMORY', 'cgroup'],
    [uapi.BPF_OBJ_PIN, errno.EEXIST, exit.failed, 'PIN_EXISTS', 'already'],
    [uapi.BPF_OBJ_PIN, errno.EPERM, exit.notPermitted, 'NOT_PERMITTED', 'dot'],
    [uapi.BPF_MAP_UPDATE_ELEM, errno.ENOSPC, exit.failed, 'MAP_FULL', 'full'],
    [uapi.BPF_MAP_UPDATE_ELEM, errno.EBUSY, exit.failed, 'BUSY', 'busy'],
    [uapi.BPF_MAP_UPDATE_ELEM, errno.ENOMEM, exit.failed, 'NO_MEMORY', 'memory'],
    [uapi.BPF_MAP_UPDATE_ELEM, errno.EPERM, exit.notPermitted, 'NOT_PERMITTED', 'frozen'],
    [uapi.BPF_MAP_UPDATE_ELEM, errno.EEXIST, exit.failed, 'ENTRY_EXISTS', 'exists already'],
    [uapi.BPF_MAP_UPDATE_ELEM, errno.ENOENT, exit.noEntry, 'NO_ENTRY', 'no such entry'],
    [uapi.BPF_MAP_DELETE_ELEM, errno.EINVAL, exit.failed, 'BAD_KEY', 'prefix length'],
    [uapi.BPF_MAP_DELETE_BATCH, errno.EPERM, exit.notPermitted, 'NOT_PERMITTED', 'frozen'],
    [uapi.BPF_MAP_LOOKUP_ELEM, 77, exit.failed, 'FAILED', 'errno 77'],
    [99, errno.ENOSYS, exit.kernelFeature, 'KERNEL_FEATURE', 'no bpf(2)'],
  ])('command %i with errno %i exits %i as %s', (cmd, number, exitCode, code, words) => {
    const error = bpfError({ cmd, errno: number, action: 'try it on map /x', path: '/x' });
    expect(error.exitCode).toBe(exitCode);
    expect(error.code).toBe(code);
    expect(`${error.message} ${error.hint ?? ''}`).toContain(words);
    expect(error.message).toMatch(/^Cannot try it on map \/x: .*[^.]$/);
    expect(error.operands).toEqual({
      path: '/x',
      errno: errno.errnoName(number),
      syscall: uapi.commandName(cmd),
    });
  });

  it.each([errno.EINVAL, errno.ENOTSUPP, errno.EOPNOTSUPP])(
    'op 51 names feature and kernel version for errno %i of a batch or next-key call',
    (number) => {
      for (const [cmd, feature, version] of [
        [uapi.BPF_MAP_LOOKUP_BATCH, 'batch', '5.13'],
        [uapi.BPF_MAP_UPDATE_BATCH, 'batch', '5.13'],
        [uapi.BPF_MAP_GET_NEXT_KEY, 'BPF_MAP_GET_NEXT_KEY', '4.16'],
      ] as const) {
        const error = bpfError({ cmd, errno: number, action: 'read map /x' });
        expect(error.exitCode).toBe(exit.kernelFeature);
        expect(error.message).toContain(feature);
        expect(error.message).toContain(`Linux ${version}`);
      }
    },
  );

  it('errnoOf() tells the errno of such an error and nothing of others', () => {
    expect(errnoOf(bpfError({ cmd: 2, errno: errno.ENOSPC, action: 'x' }))).toBe('ENOSPC');
    expect(errnoOf(new Error('ENOSPC'))).toBeUndefined();
  });
});
