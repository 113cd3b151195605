import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FailedError } from '../../../src/lib/errors.ts';
import { peerCredentials } from '../../../src/lib/native/peer-credentials.ts';

function descriptorOf(socket: Socket): number {
  const handle: unknown = Reflect.get(socket, '_handle');
  const fd: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'fd') : undefined;
  if (typeof fd !== 'number') throw new Error('no descriptor');
  return fd;
}

describe('peerCredentials()', () => {
  it('tells pid, uid and gid of the process that connected', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'ipc-peer-'));
    const server = createServer().listen(join(directory, 's'));
    const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
    const client = connect(join(directory, 's'));
    const peer = await accepted;
    try {
      expect(peerCredentials(descriptorOf(peer))).toEqual({
        pid: process.pid,
        uid: process.getuid?.(),
        gid: process.getgid?.(),
      });
    } finally {
      client.destroy();
      peer.destroy();
      server.close();
      rmSync(directory, { recursive: true });
    }
  });

  it('throws for what is no socket, and for a socket without a peer on this machine', async () => {
    const file = openSync('/dev/null', 'r');
    expect(() => peerCredentials(file)).toThrow(FailedError);
    closeSync(file);
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const handle: unknown = Reflect.get(server, '_handle');
    expect(() => peerCredentials(Number(Reflect.get(Object(handle), 'fd')))).toThrow('not a connected unix socket');
    server.close();
  });
});
