/**
 * One writer per state directory and per pin. A pin cannot be opened to lock it, its directory can, and that lock is
 * seen by every container that shares the bpffs. Locks die with the process; readers never take one.
 */
import * as fs from 'node:fs';
import { LockedError } from '../errors.ts';
import { fileError } from '../fs/file-error.ts';
import { tryFlock } from '../native/flock.ts';
import { findLockHolder, type LockHolder } from './lock-holder.ts';
import { statePaths } from './paths.ts';

export interface LockOptions {
  /** The state directory; it is made when it is missing. */
  readonly directory: string;
  /** The directory that holds the pin; absent for a map that is named by its id. */
  readonly pinDirectory?: string;
}

/** Proof that this process is the one writer; given back by disposing it. */
export class StateLock implements Disposable {
  readonly directory: string;
  readonly #fds: number[] = [];

  constructor(directory: string, fds: number[]) {
    this.directory = directory;
    this.#fds = fds;
  }

  [Symbol.dispose](): void {
    for (const fd of this.#fds.splice(0)) fs.closeSync(fd);
  }
}

/**
 * Takes both locks or none, without waiting.
 * @throws {LockedError} naming the holder, with its pid where this pid namespace knows it
 * @throws {NotPermittedError}
 * @throws {NotFoundError} when the pin's directory does not exist
 */
export function lockState({ directory, pinDirectory }: LockOptions): StateLock {
  const { lock } = statePaths(directory);
  const fds: number[] = [];
  try {
    fds.push(takeLock(lock, openLockFile(directory, lock)));
    // For whoever looks into the file; who really holds it is asked of the kernel.
    fs.ftruncateSync(fds[0] ?? -1);
    fs.writeSync(fds[0] ?? -1, `${process.pid}\n`, 0);
    if (pinDirectory !== undefined) fds.push(takeLock(pinDirectory, openDirectory(pinDirectory)));
    return new StateLock(directory, fds);
  } catch (cause) {
    for (const fd of fds) fs.closeSync(fd);
    throw fileError('lock', lock, cause);
  }
}

/** Who holds the lock of the state directory now, for readers. @returns undefined when nobody does or it is unseen */
export function readLockHolder(directory: string): LockHolder | undefined {
  let fd: number;
  try {
    fd = fs.openSync(statePaths(directory).lock, 'r');
  } catch {
    return undefined;
  }
  try {
    return findLockHolder(fd);
  } finally {
    fs.closeSync(fd);
  }
}

function openLockFile(directory: string, lock: string): number {
  try {
    fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
    return fs.openSync(lock, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600);
  } catch (cause) {
    throw fileError('lock', lock, cause);
  }
}

function openDirectory(path: string): number {
  try {
    return fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  } catch (cause) {
    throw fileError('lock', path, cause);
  }
}

/** @returns the descriptor; it is closed when the lock cannot be had. */
function takeLock(path: string, fd: number): number {
  let holder: LockHolder | undefined;
  try {
    if (tryFlock(fd, 'exclusive')) return fd;
    holder = findLockHolder(fd);
  } catch (cause) {
    fs.closeSync(fd);
    throw cause;
  }
  fs.closeSync(fd);
  const by =
    holder === undefined
      ? 'a process in another pid namespace holds it'
      : `${holder.command ?? 'a process'} (pid ${holder.pid}) holds it`;
  throw new LockedError(`Cannot lock ${path}: ${by}`, {
    hint: 'one ipc at a time may write; wait for it to end, or stop it',
    operands: { path, ...(holder === undefined ? {} : { pid: holder.pid }) },
  });
}
