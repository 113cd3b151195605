/** Bounds of the sockets of a running listen: who may connect, how much and for how long. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type InstalledProgram, installProgram } from '../../support/installed-program.ts';
import { type ListenOptions, ListenProcess } from '../../support/listen-process.ts';
import { type PinDirectory, pinDirectory } from '../../support/real-kernel.ts';

const CONNECTIONS = 64;
const NOBODY = 65_534;
let program: InstalledProgram;
let directory: PinDirectory;
let scratch: string;
let running: ListenProcess[];
let sockets: Socket[];

beforeAll(() => {
  program = installProgram();
});
afterAll(() => program[Symbol.dispose]());
beforeEach(() => {
  directory = pinDirectory('control');
  scratch = mkdtempSync(path.join(tmpdir(), 'ipc-control-'));
  running = [];
  sockets = [];
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  for (const listen of running) await listen.stop('SIGKILL');
  directory[Symbol.dispose]();
  rmSync(scratch, { recursive: true });
});

function start(options: Partial<ListenOptions> = {}): ListenProcess {
  const listen = new ListenProcess({ program, pin: `${directory.path}/map`, scratch, ...options });
  running.push(listen);
  return listen;
}

interface Client {
  readonly socket: Socket;
  text: string;
  readonly closed: Promise<void>;
}

/** Connects, and reads what comes unless it is told not to. */
async function client(socketPath: string, { reads = true } = {}): Promise<Client> {
  const socket = connect(socketPath);
  sockets.push(socket);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const made: Client = { socket, text: '', closed };
  socket.on('error', () => {});
  if (reads) {
    socket.setEncoding('utf8').on('data', (text: string) => {
      made.text += text;
    });
  }
  await new Promise<void>((resolve) => {
    socket.once('connect', () => resolve());
    socket.once('close', () => resolve());
  });
  return made;
}

/** What another user gets who asks for the status through the socket: what came, or the error of connecting. */
function asOtherUser(socketPath: string): string {
  const script = `
    const socket = require('node:net').connect(process.argv[1]);
    let text = '';
    socket.on('data', (part) => { text += part; });
    socket.on('error', (error) => console.log(error.code));
    socket.on('close', () => console.log('closed after ' + text.length + ' bytes'));
    socket.write('GET /ipc/v1/status HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n');`;
  const user = ['--reuid', `${NOBODY}`, '--regid', `${NOBODY}`, '--clear-groups'];
  const { stdout, stderr } = spawnSync('setpriv', [...user, process.execPath, '-e', script, socketPath], {
    encoding: 'utf8',
    cwd: '/',
  });
  return stdout + stderr;
}

describe('the sockets of a listen', () => {
  it('are closed to other users, by their mode and by the uid of the peer', async () => {
    const events = path.join(scratch, 'events.sock');
    const monitor = path.join(scratch, 'monitor.sock');
    const listen = start({ sources: [`unix:${events}`], args: ['--monitor', `unix:${monitor}`] });
    await listen.until('socket', async () => (await listen.status()).phase === 'run');
    chmodSync(scratch, 0o755);
    for (const socket of [listen.socket, events, monitor]) {
      expect(asOtherUser(socket), socket).toContain('EACCES');
      chmodSync(socket, 0o666);
      expect(asOtherUser(socket), socket).toContain('closed after 0 bytes');
    }
    await listen.until('it is told', () =>
      ['the control socket', `unix:${events}`].every((name) =>
        listen.stderr.includes(`a client of ${name} was turned away: it is of another user`),
      ),
    );
    expect((await listen.status()).sources[0]).toMatchObject({ events: 0 });
  });

  it('have room for so many clients and no more, and take the next one when one has left', async () => {
    const listen = start();
    await listen.until('socket', async () => (await listen.status()).phase === 'run');
    const clients: Client[] = [];
    for (let i = 0; i < CONNECTIONS; i++) clients.push(await client(listen.socket));
    const tooMany = await client(listen.socket);
    await tooMany.closed;
    expect(tooMany.text).toBe('');
    clients[0]?.socket.destroy();
    await listen.until('room', async () => {
      const next = await client(listen.socket);
      next.socket.end('GET /v1/healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
      await next.closed;
      return next.text.includes('200 OK');
    });
  });

  it('are not held up by clients that are slow: with headers, a body, or reading', async () => {
    const listen = start();
    const labels = Array.from({ length: 40 }, (_, i) => `fqdn:${'x'.repeat(200)}-${i}`);
    for (let i = 0; i < 2000; i++) {
      const prefix = `10.0.${i >> 8}.${i & 255}/32`;
      listen.send({ op: 'upsertMetadata', prefix, resource: 'cnp/a/b', source: 'generated', labels });
    }
    listen.send({ op: 'synced' });
    await listen.until('ready', async () => (await listen.status()).ready);
    expect(await listen.status()).toMatchObject({ entries: 2000, queued: 0 });
    const begun = Date.now();
    const silent = await client(listen.socket);
    const halfway = await client(listen.socket);
    halfway.socket.write('GET /ipc/v1/status HT');
    const body = await client(listen.socket);
    body.socket.write('GET /v1/ip HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n[');
    const unread = await client(listen.socket, { reads: false });
    unread.socket.pause();
    unread.socket.write('GET /ipc/v1/dump HTTP/1.1\r\nhost: x\r\n\r\n');
    await Promise.all([silent.closed, halfway.closed, body.closed]);
    // One that does not read learns of the end by what is missing when it goes on.
    await sleep(3_000);
    unread.socket.setEncoding('utf8').on('data', (text: string) => {
      unread.text += text;
    });
    unread.socket.resume();
    await unread.closed;
    expect(unread.text.includes('listen-dump')).toBe(true);
    expect(unread.text.includes('"end":true')).toBe(false);
    expect(Date.now() - begun).toBeGreaterThan(9_000);
    expect((await listen.status()).ready).toBe(true);
  });

  it('bound what a request may be, and outlive clients that break off', async () => {
    const listen = start();
    await listen.until('socket', async () => (await listen.status()).phase === 'run');
    const long = await client(listen.socket);
    long.socket.write(`GET /v1/healthz HTTP/1.1\r\nhost: x\r\nx-long: ${'x'.repeat(20_000)}\r\n\r\n`);
    await long.closed;
    expect(long.text).toContain('431');
    const noHttp = await client(listen.socket);
    noHttp.socket.write('what is this\r\n\r\n');
    await noHttp.closed;
    expect(noHttp.text).toContain('400');
    const big = await client(listen.socket);
    big.socket.write('POST /ipc/v1/events HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
    const event = '{"op":"upsert","prefix":"10.0.0.1","identity":7}\n';
    big.socket.write(`${event.length.toString(16)}\r\n${event}\r\n`);
    await listen.until('taken before the end', async () => (await listen.status()).entries === 1);
    big.socket.destroy();
    const body = await client(listen.socket);
    body.socket.write('GET /v1/ip HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n[');
    body.socket.destroy();
    const line = `{"op":"${'x'.repeat((1 << 20) + 10)}"}\n`;
    const answer = await listen.http('POST', '/ipc/v1/events', line);
    expect(JSON.parse(answer.text)).toMatchObject({
      events: 0,
      badLines: 1,
      errors: [expect.stringMatching(/longer/)],
    });
    for (const [method, url] of [
      ['POST', '/ipc/v1/status'],
      ['DELETE', '/v1/ip'],
      ['GET', '/ipc/v1/gc'],
      ['GET', '/ipc/v1/../../etc/passwd'],
      ['GET', `/v1/identity/${'9'.repeat(100)}`],
    ] as const) {
      expect(await listen.http(method, url), url).toMatchObject({ status: 404, server: expect.stringMatching(/^ipc/) });
    }
    expect(await listen.stop()).toEqual({ code: 0, signal: null });
  });
});
