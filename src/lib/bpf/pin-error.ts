/** What the file system's errors mean for pins. */
import type { ToolError } from '../errors.ts';
import { errnoName } from './errno.ts';
import { type Explanation, makeError } from './explanation.ts';

const STATES: Readonly<Record<string, Explanation>> = {
  ENOENT: { kind: 'notFound', code: 'MAP_NOT_FOUND', state: 'no such pin or directory' },
  ENOTDIR: { kind: 'notFound', code: 'MAP_NOT_FOUND', state: 'a part of the path is not a directory' },
  EISDIR: { kind: 'notFound', code: 'NOT_A_PIN', state: 'it is a directory' },
  EEXIST: { kind: 'failed', code: 'PIN_EXISTS', state: 'something is pinned there already' },
  EACCES: {
    kind: 'notPermitted',
    code: 'NOT_PERMITTED',
    state: 'permission denied on the directory',
    hint: "changing pins needs write permission on their directory or CAP_DAC_OVERRIDE; AppArmor's container default denies writes below bpffs",
  },
  EPERM: {
    kind: 'notPermitted',
    code: 'NOT_PERMITTED',
    state: 'operation not permitted',
    hint: 'the kernel refuses pin names with a dot, directories, and pins of another owner in a sticky directory',
  },
  EROFS: { kind: 'notPermitted', code: 'NOT_PERMITTED', state: 'the bpf filesystem is mounted read-only' },
  EXDEV: {
    kind: 'failed',
    code: 'OTHER_BPFFS',
    state: 'the two paths are on different mounts',
    hint: 'pins can only be moved within one bpf filesystem',
  },
  EINVAL: {
    kind: 'kernelFeature',
    code: 'KERNEL_FEATURE',
    state: 'this kernel cannot do that to pins (RENAME_EXCHANGE on bpffs, Linux 5.16)',
    hint: 'without it a pin can still be replaced by a plain rename',
  },
};

/** @param error a system error of Node's, or an errno. Anything else is thrown as it is. */
export function pinFileError(action: string, path: string, error: unknown): ToolError {
  const { name, syscall } = systemError(error);
  const explanation = STATES[name] ?? { kind: 'failed', code: 'FAILED', state: `the kernel answers ${name}` };
  return makeError(`Cannot ${action} ${path}: ${explanation.state}`, explanation, { path, errno: name, syscall });
}

function systemError(error: unknown): { name: string; syscall: string } {
  if (typeof error === 'number') return { name: errnoName(error), syscall: 'renameat2' };
  if (error instanceof Error && 'code' in error && 'syscall' in error && typeof error.code === 'string') {
    return { name: error.code, syscall: String(error.syscall) };
  }
  throw error;
}
