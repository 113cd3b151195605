/**
 * The secret that makes redaction consistent over files: 32 random bytes as hex, in the state directory, readable by
 * its owner only and used again every time. It is made without the lock, because readers redact too.
 */
import type * as Crypto from 'node:crypto';
import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { MalformedError, NotFoundError, NotPermittedError } from '../errors.ts';
import { errnoOf, fileError } from '../fs/file-error.ts';
import { syncDirectory } from '../fs/sync-directory.ts';
import { statePaths } from './paths.ts';

const KEY_BYTES = 32;

/** The key of a state directory; made, with the directory, on first use. @throws {ToolError} as `readRedactKey` */
export async function openRedactKey(directory: string): Promise<Uint8Array> {
  const path = statePaths(directory).redactKey;
  try {
    return readRedactKey(path);
  } catch (cause) {
    if (!(cause instanceof NotFoundError)) throw cause;
  }
  const { randomBytes } = require('node:crypto') as typeof Crypto;
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
    const fd = fs.openSync(temporary, 'wx', 0o600);
    try {
      fs.writeSync(fd, `${randomBytes(KEY_BYTES).toString('hex')}\n`);
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
    makeOnce(temporary, path);
    await syncDirectory(dirname(path));
  } catch (cause) {
    throw fileError('create', path, cause);
  } finally {
    fs.rmSync(temporary, { force: true });
  }
  return readRedactKey(path);
}

/**
 * Reads a key file.
 * @returns 32 bytes
 * @throws {NotFoundError}
 * @throws {NotPermittedError} also when others may read it: then it protects nothing
 * @throws {MalformedError} when it is not 64 hex digits
 */
export function readRedactKey(path: string): Uint8Array {
  let text: string;
  let mode: number;
  try {
    text = fs.readFileSync(path, 'latin1').trim();
    mode = fs.statSync(path).mode;
  } catch (cause) {
    throw fileError('read', path, cause);
  }
  if ((mode & 0o077) !== 0) {
    throw new NotPermittedError(
      `Cannot use key ${path}: others may read it, its mode is 0${(mode & 0o777).toString(8)}`,
      {
        hint: `chmod 600 ${path}, or make a new key if somebody has read it`,
        operands: { path },
      },
    );
  }
  if (!/^[0-9a-f]{64}$/i.test(text)) {
    throw new MalformedError(`Cannot use key ${path}: it is not ${KEY_BYTES * 2} hex digits`, {
      hint: `make one with: openssl rand -hex ${KEY_BYTES}`,
      operands: { file: path, offset: 0 },
    });
  }
  return Buffer.from(text, 'hex');
}

/** Gives the file its name unless another process was first; then that one's key is the key. */
function makeOnce(temporary: string, path: string): void {
  try {
    fs.linkSync(temporary, path);
  } catch (cause) {
    if (errnoOf(cause) !== 'EEXIST') throw cause;
  }
}
