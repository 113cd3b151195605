import { closeSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FailedError } from '../../../src/lib/errors.ts';
import { callLibc } from '../../../src/lib/native/libc.ts';
import { sdNotify } from '../../../src/lib/native/sd-notify.ts';

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const MSG_DONTWAIT = 0x40;

/** Binds a datagram socket as a service manager does; `path` begins with a NUL for an abstract name. */
function manager(path: string) {
  const fd = callLibc('socket', ['int', 'int', 'int'], AF_UNIX, SOCK_DGRAM, 0);
  const address = Buffer.concat([Buffer.from([AF_UNIX, 0]), Buffer.from(path, 'utf8')]);
  expect(callLibc('bind', ['int', 'void *', 'uint'], fd, address, address.length)).toBe(0);
  return {
    receive(): string {
      const buffer = Buffer.alloc(256);
      const types = ['int', 'void *', 'size_t', 'int'];
      const length = callLibc('recv', types, fd, buffer, buffer.length, MSG_DONTWAIT);
      return buffer.toString('utf8', 0, length);
    },
    [Symbol.dispose]: () => closeSync(fd),
  };
}

describe('sdNotify()', () => {
  it('sends a message to a socket with a path', () => {
    const directory = mkdtempSync(join(tmpdir(), 'ipc-notify-'));
    const path = join(directory, 'notify');
    using socket = manager(`${path}\0`);
    sdNotify(path, 'READY=1\nSTATUS=é');
    expect(socket.receive()).toBe('READY=1\nSTATUS=é');
    rmSync(directory, { recursive: true });
  });

  it('sends a message to an abstract socket', () => {
    const name = `ipc-test-${process.pid}`;
    using socket = manager(`\0${name}`);
    sdNotify(`@${name}`, 'WATCHDOG=1');
    expect(socket.receive()).toBe('WATCHDOG=1');
  });

  it('throws when nobody listens or the name is none, and leaves no descriptor open', () => {
    const before = readdirSync('/proc/self/fd').length;
    expect(() => sdNotify('/nonexistent/notify', 'READY=1')).toThrow(FailedError);
    expect(() => sdNotify('relative', 'READY=1')).toThrow('neither an absolute path nor an abstract name');
    expect(() => sdNotify(`/${'x'.repeat(108)}`, 'READY=1')).toThrow('longer than 107 bytes');
    expect(readdirSync('/proc/self/fd').length).toBe(before);
  });
});
