/**
 * A file that is either the old one or the complete new one, whatever happens in between: written beside its target,
 * synced, renamed over it, and the directory synced, so that a power cut after `commit()` cannot bring the old one back.
 */
import type * as Crypto from 'node:crypto';
import * as fs from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { errnoOf, fileError } from './file-error.ts';
import { keepPrevious } from './previous-generation.ts';
import { syncDirectory } from './sync-directory.ts';

/** A longer name leaves no room for the 18 bytes that a temporary has more. */
const NAME_BYTES = 237;

/** As the kernel. */
const MAX_LINKS = 40;

export interface AtomicFileOptions {
  /** Mode of a file that does not exist yet, before the umask (default 0o600). An existing file keeps its own. */
  readonly mode?: number;
  /** Where the replaced file stays reachable, in the same directory; absent: it is dropped. */
  readonly previous?: string;
}

/**
 * Opened with `openAtomicFile`; without a `commit()` disposing it removes what was written and leaves the target alone.
 * Devices, pipes and sockets cannot be replaced by a file and are written to directly.
 */
export class AtomicFile implements Disposable {
  /** For callers with a write loop of their own; they must write everything before `commit()`. */
  readonly fd: number;
  /** The file that is replaced: the path given, with symbolic links resolved. */
  readonly path: string;
  readonly #temporary: string | undefined;
  readonly #previous: string | undefined;
  #open = true;

  constructor(fd: number, path: string, temporary: string | undefined, previous: string | undefined) {
    this.fd = fd;
    this.path = path;
    this.#temporary = temporary;
    this.#previous = previous;
  }

  /** Appends all of the chunk, blocking. @throws {ToolError} as `fileError` does */
  writeSync(chunk: Uint8Array | string): void {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    try {
      for (let at = 0; at < bytes.length; ) at += fs.writeSync(this.fd, bytes, at);
    } catch (cause) {
      throw fileError('write', this.path, cause);
    }
  }

  /** Appends all of the chunk on the thread pool; one write at a time. @throws {ToolError} as `fileError` does */
  async write(chunk: Uint8Array | string): Promise<void> {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    try {
      for (let at = 0; at < bytes.length; ) at += await writeOnce(this.fd, bytes, at);
    } catch (cause) {
      throw fileError('write', this.path, cause);
    }
  }

  /** Makes the new file the file: fsync, rename, fsync of the directory. @throws {ToolError} as `fileError` does */
  async commit(): Promise<void> {
    const temporary = this.#temporary;
    try {
      if (temporary === undefined) return;
      await new Promise<void>((resolve, reject) => fs.fsync(this.fd, (error) => (error ? reject(error) : resolve())));
      if (this.#previous !== undefined) await keepPrevious(this.path, this.#previous);
      await fs.promises.rename(temporary, this.path);
      this.#close();
      await syncDirectory(dirname(this.path));
    } catch (cause) {
      throw fileError('replace', this.path, cause);
    } finally {
      this[Symbol.dispose]();
    }
  }

  [Symbol.dispose](): void {
    if (!this.#open) return;
    this.#close();
    if (this.#temporary !== undefined) fs.rmSync(this.#temporary, { force: true });
  }

  #close(): void {
    this.#open = false;
    fs.closeSync(this.fd);
  }
}

/**
 * Begins to replace (or make) a file. Mode, and where permitted owner, of an existing file are kept.
 * @throws {UsageError} for a directory
 * @throws {ToolError} as `fileError` does
 */
export function openAtomicFile(path: string, options: AtomicFileOptions = {}): AtomicFile {
  try {
    const old = fs.statSync(path, { throwIfNoEntry: false });
    if (old !== undefined && !old.isFile() && !old.isDirectory()) {
      return new AtomicFile(fs.openSync(path, fs.constants.O_WRONLY), path, undefined, undefined);
    }
    if (old?.isDirectory()) throw Object.assign(new Error('EISDIR'), { code: 'EISDIR', syscall: 'open' });
    const target = old === undefined ? linkTarget(path) : fs.realpathSync(path);
    const { randomBytes } = require('node:crypto') as typeof Crypto;
    const temporary = join(dirname(target), `${temporaryBegin(target)}${randomBytes(6).toString('hex')}.tmp`);
    const fd = fs.openSync(temporary, 'wx', options.mode ?? 0o600);
    const file = new AtomicFile(fd, target, temporary, options.previous);
    if (old !== undefined) keepAttributes(file, old);
    return file;
  } catch (cause) {
    throw fileError('write', path, cause);
  }
}

/** Replaces a file in one call. @throws {ToolError} as `openAtomicFile` and `commit` do */
export async function writeFileAtomically(
  path: string,
  data: Uint8Array | string,
  options: AtomicFileOptions = {},
): Promise<void> {
  using file = openAtomicFile(path, options);
  await file.write(data);
  await file.commit();
}

/**
 * Removes what a killed process left beside `path`. Only for a caller that holds the lock under which `path` is
 * written. @returns the names removed
 */
export function removeTemporaries(path: string): string[] {
  const begin = temporaryBegin(path);
  const left = fs
    .readdirSync(dirname(path))
    .filter((name) => name.startsWith(begin) && /^[0-9a-f]{12}\.tmp$/.test(name.slice(begin.length)));
  for (const name of left) fs.rmSync(join(dirname(path), name), { force: true });
  return left;
}

/** What temporaries of a file begin with: its name, cut so that what follows fits into the 255 bytes of a name. */
function temporaryBegin(path: string): string {
  const name = Buffer.from(basename(path));
  return name.length <= NAME_BYTES ? `.${name}.` : `.${name.toString('hex', 0, 32)}.`;
}

/** Where a file has to be made so that links to nothing lead to it. @throws ELOOP */
function linkTarget(path: string): string {
  let target = path;
  for (let links = 0; links < MAX_LINKS; links++) {
    const link = readLink(target);
    if (link === undefined) return target;
    // Not joined: that would take `..` for the way back out of a linked directory.
    target = isAbsolute(link) ? link : `${dirname(target)}/${link}`;
  }
  throw Object.assign(new Error('ELOOP'), { code: 'ELOOP', syscall: 'readlink' });
}

function readLink(path: string): string | undefined {
  try {
    return fs.readlinkSync(path);
  } catch (cause) {
    const errno = errnoOf(cause);
    if (errno === 'EINVAL' || errno === 'ENOENT') return undefined;
    throw cause;
  }
}

function keepAttributes(file: AtomicFile, old: fs.Stats): void {
  try {
    const fresh = fs.fstatSync(file.fd);
    if (fresh.uid !== old.uid || fresh.gid !== old.gid) {
      try {
        fs.fchownSync(file.fd, old.uid, old.gid);
      } catch (cause) {
        // Only root may give a file away; the content matters more than its owner.
        if (errnoOf(cause) !== 'EPERM') throw cause;
      }
    }
    fs.fchmodSync(file.fd, old.mode & 0o7777);
  } catch (cause) {
    file[Symbol.dispose]();
    throw cause;
  }
}

function writeOnce(fd: number, bytes: Uint8Array, at: number): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.write(fd, bytes, at, bytes.length - at, null, (error, written) => (error ? reject(error) : resolve(written)));
  });
}
