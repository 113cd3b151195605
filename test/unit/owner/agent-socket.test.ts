import * as fs from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askAgentSocket } from '../../../src/lib/owner/agent-socket.ts';

let dir: string;
let path: string;
let server: Server | undefined;
beforeEach(() => {
  dir = fs.mkdtempSync(join(tmpdir(), 'ipc-sock-'));
  path = join(dir, 'cilium.sock');
});
afterEach(() => {
  server?.close();
  server = undefined;
  fs.rmSync(dir, { recursive: true, force: true });
});

/** A server that says `answer` when it has read a request, in the pieces given. */
async function listen(...answer: string[]): Promise<string[]> {
  const requests: string[] = [];
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (data) => {
      requests.push(data.toString());
      for (const piece of answer) socket.write(piece);
    });
  });
  await new Promise<void>((resolve) => server?.listen(path, resolve));
  return requests;
}

describe('askAgentSocket()', () => {
  it('knows an agent by any HTTP answer, and who listens', async () => {
    const requests = await listen('HTTP/1.1 500 Internal Server Error\r\nContent-Type: a/b\r\n\r\n{}');
    expect(await askAgentSocket(path, 2000)).toEqual({ path, state: 'answers', pid: process.pid });
    expect(requests[0]).toMatch(/^GET \/v1\/healthz HTTP\/1\.1\r\n(.+\r\n)+\r\n$/);
  });

  it('does not take the agent loop of ipc for an agent', async () => {
    await listen('HTTP/1.1 200 OK\r\nServer: ip', 'c/0.1.0\r\n\r\n{"cilium":{}}');
    expect(await askAgentSocket(path, 2000)).toBeUndefined();
  });

  it('waits no longer than it may for a silent socket', async () => {
    await listen();
    const before = Date.now();
    expect(await askAgentSocket(path, 100)).toMatchObject({ path, state: 'silent' });
    // Far from what nobody waits for, and far from what a busy machine takes.
    expect(Date.now() - before).toBeLessThan(20_000);
  });

  it('calls a socket silent that closes without a word', async () => {
    server = createServer((socket) => socket.end());
    await new Promise<void>((resolve) => server?.listen(path, resolve));
    expect(await askAgentSocket(path, 2000)).toMatchObject({ state: 'silent' });
  });

  it('tells a left-over socket from a silent one', async () => {
    await listen();
    const left = join(dir, 'left.sock');
    fs.renameSync(path, left);
    server?.close();
    expect(await askAgentSocket(left, 2000)).toEqual({ path: left, state: 'refuses' });
  });

  it('finds nothing where there is no socket', async () => {
    fs.writeFileSync(path, '');
    expect(await askAgentSocket(path, 100)).toBeUndefined();
    expect(await askAgentSocket(join(dir, 'none'), 100)).toBeUndefined();
  });

  it('leaves no descriptor open', async () => {
    const open = (): number => fs.readdirSync('/proc/self/fd').length;
    await listen('HTTP/1.1 200 OK\r\n\r\n');
    await askAgentSocket(path, 2000);
    const before = open();
    for (let i = 0; i < 5; i++) await askAgentSocket(path, 2000);
    await expect.poll(open).toBe(before);
  });
});
