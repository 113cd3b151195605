/** The datagram of sd_notify(3), sent without libsystemd. */
import { closeSync } from 'node:fs';
import { FailedError } from '../errors.ts';
import { callLibc } from './libc.ts';

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const MSG_NOSIGNAL = 0x4000;
/** sizeof sockaddr_un.sun_path; an abstract name may use all of it. */
const PATH_BYTES = 108;

/**
 * Sends one message (`READY=1`, `WATCHDOG=1`, several joined by newlines) to the service manager.
 * @param socket the value of `$NOTIFY_SOCKET`: a path, or `@` and an abstract name.
 * @throws {FailedError} where it cannot be delivered.
 */
export function sdNotify(socket: string, message: string): void {
  const address = unixAddress(socket);
  const fd = callLibc('socket', ['int', 'int', 'int'], AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) throw failed(socket, -fd, 'socket');
  try {
    const bytes = new TextEncoder().encode(message);
    const types = ['int', 'void *', 'size_t', 'int', 'void *', 'uint'];
    const ret = callLibc('sendto', types, fd, bytes, bytes.length, MSG_NOSIGNAL, address, address.length);
    if (ret < 0) throw failed(socket, -ret, 'sendto');
  } finally {
    closeSync(fd);
  }
}

/** struct sockaddr_un: the family, then the path with its NUL, or a NUL and the abstract name without one. */
function unixAddress(socket: string): Uint8Array {
  const abstract = socket.startsWith('@');
  const path = new TextEncoder().encode(abstract ? `\0${socket.slice(1)}` : `${socket}\0`);
  if (!abstract && !socket.startsWith('/')) throw invalid(socket, 'neither an absolute path nor an abstract name');
  if (path.length > PATH_BYTES) throw invalid(socket, `longer than ${PATH_BYTES - 1} bytes`);
  const address = new Uint8Array(2 + path.length);
  address[0] = AF_UNIX;
  address.set(path, 2);
  return address;
}

function invalid(socket: string, state: string): FailedError {
  return new FailedError(`Cannot notify ${socket}: ${state}`, { hint: 'NOTIFY_SOCKET is set by the service manager' });
}

function failed(socket: string, errno: number, syscall: string): FailedError {
  return new FailedError(`Cannot notify ${socket}: errno ${errno}`, { operands: { path: socket, syscall } });
}
