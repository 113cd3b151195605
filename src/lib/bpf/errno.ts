/** Error numbers as x86-64 and arm64 Linux have them (asm-generic/errno-base.h, errno.h; ENOTSUPP is the kernel's own). */
export const EPERM = 1;
export const ENOENT = 2;
export const EINTR = 4;
export const EIO = 5;
export const E2BIG = 7;
export const EBADF = 9;
export const EAGAIN = 11;
export const ENOMEM = 12;
export const EACCES = 13;
export const EFAULT = 14;
export const EBUSY = 16;
export const EEXIST = 17;
export const EXDEV = 18;
export const ENOTDIR = 20;
export const EISDIR = 21;
export const EINVAL = 22;
export const EMFILE = 24;
export const ENFILE = 23;
export const ENOSPC = 28;
export const EROFS = 30;
export const EDEADLK = 35;
export const ENAMETOOLONG = 36;
export const ENOSYS = 38;
export const ELOOP = 40;
export const EOPNOTSUPP = 95;
export const ETIMEDOUT = 110;
/** Not in any user header: bpf answers it where a map type lacks an operation. */
export const ENOTSUPP = 524;

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries({
    EPERM,
    ENOENT,
    EINTR,
    EIO,
    E2BIG,
    EBADF,
    EAGAIN,
    ENOMEM,
    EACCES,
    EFAULT,
    EBUSY,
    EEXIST,
    EXDEV,
    ENOTDIR,
    EISDIR,
    EINVAL,
    EMFILE,
    ENFILE,
    ENOSPC,
    EROFS,
    EDEADLK,
    ENAMETOOLONG,
    ENOSYS,
    ELOOP,
    EOPNOTSUPP,
    ETIMEDOUT,
    ENOTSUPP,
  }).map(([name, number]) => [number, name]),
);

/** `ENOENT` for 2; `errno 999` for a number without a name here. */
export function errnoName(errno: number): string {
  return NAMES.get(errno) ?? `errno ${errno}`;
}
