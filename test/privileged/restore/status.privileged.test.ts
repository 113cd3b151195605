/** `ipc status` beside a loop that runs, does not answer, or is dead. */
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import Restore from '../../../src/commands/restore.ts';
import Status from '../../../src/commands/status.ts';
import { type InstalledProgram, installProgram } from '../../support/installed-program.ts';
import { ListenProcess } from '../../support/listen-process.ts';
import { Site } from '../../support/restore-site.ts';
import { errorOf } from '../../support/run-command.ts';

const ENTRIES = [
  { prefix: '198.51.100.0/24', identity: 16777220 },
  { prefix: '203.0.113.0/24', identity: 16777221 },
];
let program: InstalledProgram;
let site: Site;
let loops: ListenProcess[];
beforeAll(() => {
  program = installProgram();
});
afterAll(() => program[Symbol.dispose]());
beforeEach(() => {
  site = new Site('status');
  site.map(ENTRIES);
  loops = [];
});
afterEach(async () => {
  for (const loop of loops) await loop.stop('SIGKILL');
  site[Symbol.dispose]();
});

const socket = (): string => site.file('ipc.sock');
const listen = (...args: string[]): ListenProcess => {
  const loop = new ListenProcess({ program, pin: site.pin, scratch: site.directory, args });
  loops.push(loop);
  return loop;
};
/** The clock is the real one: the loop is a process of its own. */
const status = (exit: number, ...argv: string[]) =>
  site.report(Status, ['--socket', socket(), ...argv], exit, { now: Date.now() });
const failure = async (...argv: string[]) => {
  const { exitCode, stderr } = await site.run(Status, ['--socket', socket(), '--json', ...argv], { now: Date.now() });
  return { exitCode, ...errorOf({ stderr }) };
};

describe('ipc status beside ipc listen', () => {
  it('is not ready before the sources are, then ready, and tells phase, placeholders and grace period', async () => {
    const loop = listen('--grace-period', '2s');
    await loop.until('the map is open', async () => (await loop.status()).map !== undefined);
    const waiting = await status(10);
    expect(waiting).toMatchObject({ ready: false, listen: { ready: false, pid: loop.child.pid } });
    expect(String(waiting.reasons)).toMatch(/^ipc listen is not ready: phase [a-z]+, source .* is starting/);
    expect(waiting).toMatchObject({ listen: { restore: { placeholders: 2, graceMs: 2000 } } });
    const early = await site.run(Status, ['--socket', socket()], { now: Date.now() });
    expect(early.stdout).toMatch(
      /^listen {5}pid [0-9]+, .* 2 placeholders until a grace period after all sources are/m,
    );

    loop.send({ op: 'synced' });
    await loop.until('ready', async () => (await loop.status()).ready);
    const ready = await status(0);
    expect(ready).toMatchObject({ ready: true, lockedBy: loop.child.pid, listen: { phase: 'run', ready: true } });
    expect(ready).toMatchObject({ listen: { restore: { placeholders: 2, releaseAt: expect.any(String) } } });
    expect((await site.run(Status, ['--socket', socket()], { now: Date.now() })).stdout).toMatch(
      /^listen {5}pid [0-9]+, phase run, ready, 2 placeholders until 20/m,
    );

    await loop.until('released', async () => (await loop.status()).restore?.released !== undefined);
    expect(await status(0)).toMatchObject({ listen: { restore: { placeholders: 0, released: expect.any(String) } } });
  });

  it('tells of a loop that was stopped in order what is remembered, and of a dead one that it does not answer', async () => {
    const loop = listen();
    loop.send({ op: 'synced' });
    await loop.until('ready', async () => (await loop.status()).ready);
    await loop.until('state', () => existsSync(`${site.stateDir}/checkpoint.json`));
    await loop.stop('SIGTERM');
    const stopped = await status(0);
    expect(stopped).toMatchObject({ ready: true, identities: 2 });
    expect(stopped.listen).toBeUndefined();

    const second = listen();
    second.send({ op: 'synced' });
    await second.until('ready', async () => (await second.status()).ready);
    await second.until('state', () => site.state.writer?.pid === second.child.pid);
    await second.stop('SIGKILL');
    expect(existsSync(socket())).toBe(true);
    expect(await failure()).toMatchObject({
      exitCode: 8,
      code: 'CONTROL_SILENT',
      message: expect.stringContaining(`pid ${second.child.pid}): it ended without stopping in order`),
    });
    // What is remembered is shown all the same, and is all there is to see without asking.
    expect(await status(8)).toMatchObject({ identities: 2, placeholders: 2 });
    expect(await site.report(Status, ['--socket', ''], 0, { now: Date.now() })).toMatchObject({ ready: true });
  });

  it('says 8 of a loop that keeps the state but is asked on a socket where nobody is', async () => {
    const loop = listen();
    loop.send({ op: 'synced' });
    await loop.until('state', () => existsSync(`${site.stateDir}/checkpoint.json`));
    const argv = ['--socket', site.file('other.sock'), '--json'];
    const { exitCode, stderr } = await site.run(Status, argv, { now: Date.now() });
    expect(exitCode).toBe(8);
    expect(errorOf({ stderr })).toMatchObject({ pid: loop.child.pid, hint: expect.stringContaining('--socket') });
  });
});

describe('ipc status and sockets of others', () => {
  const restored = () =>
    site.report(Restore, ['--map', site.pin, '--allocator-state', site.allocator('null')], 0, { now: Date.now() });

  /** A server that answers so, for as long as `work` runs. */
  async function answering(answer: (client: Socket) => void, work: () => Promise<void>): Promise<void> {
    const clients = new Set<Socket>();
    const server: Server = createServer((client) => {
      clients.add(client.on('error', () => {}));
      answer(client);
    });
    server.listen(socket());
    await once(server, 'listening');
    try {
      await work();
    } finally {
      for (const client of clients) client.destroy();
      server.close();
    }
  }

  it('has no loop where there is no socket, none that is listened on, or no socket at all under the name', async () => {
    await restored();
    expect((await status(0)).listen).toBeUndefined();
    await answering(
      () => {},
      async () => {},
    );
    writeFileSync(socket(), '');
    expect((await status(0)).listen).toBeUndefined();
  });

  it('has no state to tell of with 3 only where no loop answers either', async () => {
    expect((await failure()).exitCode).toBe(3);
    await answering(
      () => {},
      async () => {
        expect((await failure('--timeout', '200ms')).exitCode).toBe(8);
      },
    );
  });

  it('gives up on one that is silent, slow, or no loop, in time and with 8', async () => {
    await restored();
    const cases: readonly (readonly [RegExp, (client: Socket) => void])[] = [
      [/no answer within 300 ms/, () => {}],
      [
        /no answer within 300 ms/,
        async (client) => {
          client.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n');
          for (let i = 0; i < 100 && !client.destroyed; i++, await sleep(50)) client.write(' ');
        },
      ],
      [/broke off/, (client) => client.end('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{')],
      [/it answers 404/, (client) => client.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n')],
      [/not JSON/, (client) => client.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno')],
    ];
    for (const [message, answer] of cases) {
      await answering(answer, async () => {
        const began = Date.now();
        expect(await failure('--timeout', '300ms')).toMatchObject({
          exitCode: 8,
          message: expect.stringMatching(message),
        });
        expect(Date.now() - began).toBeLessThan(3_000);
        // What is remembered is told all the same.
        expect(await status(8, '--timeout', '300ms')).toMatchObject({ placeholders: 2 });
      });
    }
  });
});
