/** Who is at the other end of a unix socket: SO_PEERCRED of unix(7). */
import { FailedError } from '../errors.ts';
import { callLibc } from './libc.ts';

const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
/** struct ucred: pid, uid, gid. */
const UCRED_BYTES = 12;

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
  if (ret < 0) {
    throw new FailedError(`Cannot tell who is at the other end of socket ${fd}: errno ${-ret}`, {
      operands: { syscall: 'getsockopt' },
    });
  }
  return { pid: ucred.getInt32(0, true), uid: ucred.getUint32(4, true), gid: ucred.getUint32(8, true) };
}
