/** renameat2(2): the renames that Node does not offer (linux/fs.h). */
import { callLibc } from './libc.ts';
import { syscallNumbers } from './syscall-numbers.ts';

export const RENAME_NOREPLACE = 1;
/** On bpffs since Linux 5.16. */
export const RENAME_EXCHANGE = 2;

/** The working directory, for paths that are not absolute. */
const AT_FDCWD = -100;
const TYPES = ['long', 'int', 'void *', 'int', 'void *', 'uint'];

/** @returns 0, or the errno, negated. */
export function renameat2(from: string, to: string, flags: number): number {
  const encoder = new TextEncoder();
  return callLibc(
    'syscall',
    TYPES,
    syscallNumbers().renameat2,
    AT_FDCWD,
    encoder.encode(`${from}\0`),
    AT_FDCWD,
    encoder.encode(`${to}\0`),
    flags,
  );
}
