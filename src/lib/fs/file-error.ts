/** Turns what the file system answered into the error, and so the exit status, that a user can act on. */
import { FailedError, NotFoundError, NotPermittedError, type ToolError, UsageError } from '../errors.ts';

const STATES: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  ENOENT: 'no such file or directory',
  ENOTDIR: 'a part of the path is not a directory',
  EISDIR: 'it is a directory',
  ENOSPC: 'no space left on the device',
  EDQUOT: 'the disk quota is used up',
  EMFILE: 'too many open files in this process',
  ENFILE: 'too many open files in the system',
  ELOOP: 'too many symbolic links',
  EIO: 'input/output error',
};

const HINTS: Readonly<Record<string, string>> = {
  EACCES: 'run as the user that owns it, or as root',
  EROFS: 'choose a path on a writable file system',
  ENOSPC: 'free some space on that file system; nothing was replaced',
  EDQUOT: 'free some space under that quota; nothing was replaced',
};

/**
 * Builds the error for a failed file operation: 3 when the path does not exist, 5 when it is not permitted,
 * 2 when it names a directory, else 1. A ToolError is handed back as it is.
 * @param action the verb of the message, such as `write`
 */
export function fileError(action: string, path: string, cause: unknown): ToolError {
  const errno = errnoOf(cause);
  if (errno === undefined) {
    if (isToolError(cause)) return cause;
    throw cause;
  }
  const hint = HINTS[errno];
  const options = { cause, operands: { path, errno }, ...(hint === undefined ? {} : { hint }) };
  const message = `Cannot ${action} ${path}: ${STATES[errno] ?? errno}`;
  switch (errno) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new NotFoundError(message, options);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new NotPermittedError(message, options);
    case 'EISDIR':
      return new UsageError(message, options);
    default:
      return new FailedError(message, options);
  }
}

/** The errno name (`ENOENT` …) of a Node system error. @returns undefined for any other value. */
export function errnoOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || !('syscall' in cause) || !('code' in cause)) return undefined;
  return typeof cause.code === 'string' ? cause.code : undefined;
}

function isToolError(value: unknown): value is ToolError {
  return value instanceof Error && 'exitCode' in value;
}
