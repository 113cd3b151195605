/** Who is at the other end of a unix socket: SO_PEERCRED of unix(7). */
import type * as Net from 'node:net';
import { FailedError } from '../errors.ts';
import { callLibc } from './libc.ts';

const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
/** struct ucred: pid, uid, gid. */
const UCRED_BYTES = 12;
const NO_UID = 0xffff_ffff;

export interface PeerCredentials {
  /** 0 where the peer lives in a pid namespace that is not visible from here. */
  readonly pid: number;
  readonly uid: number;
  readonly gid: number;
}

/** Credentials as they were when the peer connected. @throws {FailedError} where `fd` is no connected unix socket. */
export function peerCredentials(fd: number): PeerCredentials {
  const ucred = new DataView(new ArrayBuffer(UCRED_BYTES));
  const length = new Uint32Array([UCRED_BYTES]);
  const ret = callLibc(
    'getsockopt',
    ['int', 'int', 'int', 'void *', 'void *'],
    fd,
    SOL_SOCKET,
    SO_PEERCRED,
    new Uint8Array(ucred.buffer),
    new Uint8Array(length.buffer),
  );
  const peer = { pid: ucred.getInt32(0, true), uid: ucred.getUint32(4, true), gid: ucred.getUint32(8, true) };
  // The kernel answers for every socket; one without a peer of its own has nobody's uid.
  if (ret >= 0 && peer.uid !== NO_UID) return peer;
  const state = ret < 0 ? `errno ${-ret}` : 'not a connected unix socket';
  throw new FailedError(`Cannot tell who is at the other end of socket ${fd}: ${state}`, {
    operands: { syscall: 'getsockopt' },
  });
}

/** The process at the other end, or for a connected client the one that listens. @returns undefined where it cannot be seen */
export function peerPid(socket: Net.Socket): number | undefined {
  const { _handle: handle } = socket as Net.Socket & { readonly _handle?: { readonly fd?: number } | null };
  const fd = handle?.fd;
  if (fd === undefined || fd < 0) return undefined;
  try {
    const { pid } = peerCredentials(fd);
    return pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}
