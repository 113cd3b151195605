/**
 * Turns an errno of one bpf(2) command into the error that says what it means there. The same number means different
 * things per command, so the tables go by command (kernel/bpf/syscall.c, lpm_trie.c and inode.c of Linux 6.18).
 */
import { type ErrorOperands, ToolError } from '../errors.ts';
import { errnoName } from './errno.ts';
import { explainErrno } from './errno-text.ts';
import { type Explanation, makeError } from './explanation.ts';
import { commandName } from './uapi.ts';

export interface BpfFailure {
  /** The command of bpf(2) that failed. */
  readonly cmd: number;
  /** Positive error number. */
  readonly errno: number;
  /** What was tried on what, to follow *Cannot*: `open map /sys/fs/bpf/x`. */
  readonly action: string;
  /** The pin, where there is one. */
  readonly path?: string | undefined;
  /** More that the caller knows; replaces what the tables say. */
  readonly because?: Partial<Explanation> | undefined;
  readonly operands?: ErrorOperands | undefined;
}

/** Builds, does not throw, the error of a failed call; its operands carry `errno`, `syscall` and `path`. */
export function bpfError(failure: BpfFailure): ToolError {
  const { cmd, errno, action, path, because, operands } = failure;
  const explanation = { ...explainErrno(cmd, errno), ...because };
  return makeError(`Cannot ${action}: ${explanation.state}`, explanation, {
    ...operands,
    ...(path === undefined ? {} : { path }),
    errno: errnoName(errno),
    syscall: commandName(cmd),
  });
}

/** The name of the errno that an error of this layer carries, `ENOSPC` for example. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof ToolError ? error.operands.errno : undefined;
}
