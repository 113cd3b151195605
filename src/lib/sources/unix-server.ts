/** A listening unix socket that only this user and root can use: a file of mode 0600, and the peer's uid is checked too. */
import { chmodSync, mkdirSync, statSync, unlinkSync } from 'node:fs';
import type * as Net from 'node:net';
import { dirname } from 'node:path';
import { FailedError, LockedError, UsageError } from '../errors.ts';
import { errnoOf, fileError } from '../fs/file-error.ts';
import { peerCredentials } from '../native/peer-credentials.ts';

/** sizeof sockaddr_un.sun_path, with its NUL. */
const PATH_BYTES = 108;

/**
 * Begins to listen. What a killed process left at the path is replaced; a socket that answers is not.
 * @throws {LockedError} somebody listens there @throws {UsageError} the path is too long, or something else is there
 * @throws {ToolError} what the file system answers
 */
export async function listenUnix(server: Net.Server, path: string): Promise<void> {
  if (Buffer.byteLength(path) >= PATH_BYTES) {
    throw new UsageError(`Cannot listen on ${path}: the path is longer than ${PATH_BYTES - 1} bytes`, {
      operands: { path },
    });
  }
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
    await removeStale(path);
  } catch (cause) {
    throw fileError('listen on', path, cause);
  }
  await new Promise<void>((resolve, reject) => {
    const failed = (cause: Error): void => reject(fileError('listen on', path, cause));
    server.once('error', failed);
    server.listen({ path }, () => {
      server.off('error', failed);
      resolve();
    });
  });
  chmodSync(path, 0o600);
}

/** Whether the peer is this user or root. A peer whose user cannot be told is nobody. */
export function isTrustedPeer(socket: Net.Socket, ownUid: number): boolean {
  const { _handle: handle } = socket as Net.Socket & { readonly _handle?: { readonly fd?: number } | null };
  if (handle?.fd === undefined || handle.fd < 0) return false;
  try {
    const { uid } = peerCredentials(handle.fd);
    return uid === ownUid || uid === 0;
  } catch (error) {
    if (error instanceof FailedError) return false;
    throw error;
  }
}

async function removeStale(path: string): Promise<void> {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isSocket()) {
    throw new UsageError(`Cannot listen on ${path}: something that is no socket is there`, { operands: { path } });
  }
  if (await answers(path)) {
    throw new LockedError(`Cannot listen on ${path}: another process does`, {
      hint: 'ipc status shows a running listen; choose another path otherwise',
      operands: { path },
    });
  }
  try {
    unlinkSync(path);
  } catch (cause) {
    if (errnoOf(cause) !== 'ENOENT') throw cause;
  }
}

function answers(path: string): Promise<boolean> {
  const { connect } = require('node:net') as typeof Net;
  return new Promise((resolve) => {
    const socket = connect({ path });
    const settle = (is: boolean): void => {
      socket.destroy();
      resolve(is);
    };
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}
