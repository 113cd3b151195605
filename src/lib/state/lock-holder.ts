/**
 * Who holds a flock. The kernel's own list names the holder, and leaves out processes of other pid namespaces, whose
 * numbers would mean somebody else here.
 */
import { fstatSync, readFileSync } from 'node:fs';

export interface LockHolder {
  readonly pid: number;
  /** Its first words, such as `ipc listen`; absent when it cannot be read. */
  readonly command?: string;
}

/** @param fd any descriptor of the locked file. @returns undefined when the holder cannot be seen from here. */
export function findLockHolder(fd: number): LockHolder | undefined {
  const { dev, ino } = fstatSync(fd, { bigint: true });
  let locks: string;
  try {
    locks = readFileSync('/proc/locks', 'latin1');
  } catch {
    return undefined;
  }
  const pid = parseHolder(locks, dev, ino);
  if (pid === undefined) return undefined;
  const command = commandOf(pid);
  return command === undefined ? { pid } : { pid, command };
}

/**
 * Finds the pid in the text of /proc/locks (format: fs/locks.c, lock_get_status): number, FLOCK, ADVISORY, READ or WRITE,
 * pid, major:minor:inode with the first two in hex. Waiting requests have an arrow after the number.
 */
export function parseHolder(locks: string, dev: bigint, ino: bigint): number | undefined {
  const hex = (value: bigint): string => value.toString(16).padStart(2, '0');
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & 0xfffff000n);
  const minor = (dev & 0xffn) | ((dev >> 12n) & 0xffffff00n);
  const place = `${hex(major)}:${hex(minor)}:${ino}`;
  for (const line of locks.split('\n')) {
    const [, kind, , , pid, where] = line.trim().split(/\s+/);
    if (kind === 'FLOCK' && where === place && Number(pid) > 0) return Number(pid);
  }
  return undefined;
}

function commandOf(pid: number): string | undefined {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean);
    return words.length === 0
      ? readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
      : words.slice(0, 3).join(' ').slice(0, 80);
  } catch {
    return undefined;
  }
}
