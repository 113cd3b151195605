/**
 * flock(2): advisory locks that belong to an open file description, die with their holder, and work on directories
 * and across containers that share the file system. The lock goes when the descriptor is closed.
 */
import { FailedError } from '../errors.ts';
import { callLibc } from './libc.ts';

const LOCK_SH = 1;
const LOCK_EX = 2;
const LOCK_NB = 4;
const LOCK_UN = 8;
const EINTR = 4;
const EAGAIN = 11;

export type FlockMode = 'exclusive' | 'shared';

/**
 * Tries to lock, never waits. @param fd any open file or directory.
 * @returns false when another descriptor holds a lock that excludes this one.
 * @throws {FailedError} where the file system has no locks (ENOLCK, EOPNOTSUPP).
 */
export function tryFlock(fd: number, mode: FlockMode): boolean {
  const ret = flock(fd, (mode === 'exclusive' ? LOCK_EX : LOCK_SH) | LOCK_NB);
  if (ret >= 0) return true;
  if (ret === -EAGAIN) return false;
  throw new FailedError(`Cannot lock descriptor ${fd}: errno ${-ret}`, { operands: { syscall: 'flock' } });
}

/** Gives the lock back before the descriptor is closed. */
export function unlockFlock(fd: number): void {
  flock(fd, LOCK_UN);
}

function flock(fd: number, operation: number): number {
  let ret: number;
  do ret = callLibc('flock', ['int', 'int'], fd, operation);
  while (ret === -EINTR);
  return ret;
}
