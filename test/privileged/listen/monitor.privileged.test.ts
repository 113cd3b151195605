/** Where the monitor's lines go, and that none of these places holds up or ends the run. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type InstalledProgram, installProgram } from '../../support/installed-program.ts';
import { type ListenOptions, ListenProcess, mapWords } from '../../support/listen-process.ts';
import { type PinDirectory, pinDirectory } from '../../support/real-kernel.ts';

let program: InstalledProgram;
let directory: PinDirectory;
let scratch: string;
let pin: string;
let running: ListenProcess[];

beforeAll(() => {
  program = installProgram();
});
afterAll(() => program[Symbol.dispose]());
beforeEach(() => {
  directory = pinDirectory('monitor');
  scratch = mkdtempSync(path.join(tmpdir(), 'ipc-monitor-'));
  pin = `${directory.path}/map`;
  running = [];
});
afterEach(async () => {
  for (const listen of running) await listen.stop('SIGKILL');
  directory[Symbol.dispose]();
  rmSync(scratch, { recursive: true });
});

function start(options: Partial<ListenOptions> = {}): ListenProcess {
  const listen = new ListenProcess({ program, pin, scratch, ...options });
  running.push(listen);
  return listen;
}

function upsert(address: string, identity: number): object {
  return { op: 'upsert', prefix: address, identity };
}

/** The line of an upsert of a new address, and of one that was there. */
function upserted(address: string, id: number, oldId?: number, end = ''): string {
  const old = oldId === undefined ? '' : `,"old-id":${oldId}`;
  const message = `{"cidr":"${address}/32","id":${id}${old},"encrypt-key":0}`;
  return `{"type":"agent","subtype":"IPCache entry upserted","message":${message}${end}}\n`;
}

describe('--monitor', () => {
  it('ndjson:-: the lines are all that is on standard output', async () => {
    const listen = start({ args: ['--monitor', 'ndjson:-'] });
    listen.send(upsert('10.0.0.1', 5), upsert('10.0.0.2', 6));
    await listen.until('two lines', () => listen.stdout.split('\n').length === 3);
    listen.send(upsert('10.0.0.1', 7));
    await listen.stop();
    expect(listen.stdout).toBe(upserted('10.0.0.1', 5) + upserted('10.0.0.2', 6) + upserted('10.0.0.1', 7, 5));
  });

  it('ndjson:-: when its reader leaves, the run ends in order', async () => {
    const listen = start({ args: ['--monitor', 'ndjson:-'] });
    await listen.untilRunning();
    listen.child.stdout.destroy();
    listen.send(upsert('10.0.0.1', 5));
    expect(await listen.exit).toEqual({ code: 0, signal: null });
    expect(listen.stderr).toContain('phase stopped');
    expect(listen.stderr).not.toContain('Error');
    expect(await mapWords(pin)).toEqual({ '10.0.0.1/32': '5' });
  });

  it('ndjson:FILE: a full disk loses lines, says so once, and ends nothing', async () => {
    const file = path.join(scratch, 'monitor.ndjson');
    const listen = start({ args: ['--monitor', `ndjson:${file}`] });
    listen.send(upsert('10.0.0.1', 5));
    await listen.until('a line', () => readFileSync(file, 'utf8').endsWith('\n'));
    const first = upserted('10.0.0.1', 5);
    listen.limitFileSize(first.length + 10);
    listen.send(upsert('10.0.0.2', 6));
    await listen.until('it is told', () => listen.stderr.includes(`Cannot write monitor ${file}: EFBIG`));
    listen.send(upsert('10.0.0.3', 7));
    await listen.until('written all the same', async () => (await mapWords(pin))['10.0.0.3/32'] === '7');
    listen.limitFileSize('unlimited');
    await listen.until('lines come again', async () => {
      listen.send(upsert('10.0.0.4', Math.ceil(Math.random() * 1e6)));
      return readFileSync(file, 'utf8').includes('10.0.0.4/32');
    });
    expect(await listen.stop()).toEqual({ code: 0, signal: null });
    const [one, torn, ...rest] = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect([`${one}\n`, torn]).toEqual([first, upserted('10.0.0.2', 6).slice(0, 10)]);
    // The line of 10.0.0.3 is told when there may be room again, or lost.
    for (const line of rest) {
      expect(JSON.parse(line)).toMatchObject({ message: { cidr: expect.stringMatching(/^10\.0\.0\.[34]\/32$/) } });
    }
    expect(listen.stderr.match(/lines of the monitor are lost/g)).toHaveLength(1);
  });

  it('unix:PATH: every client gets the lines, applied:false where the write failed', async () => {
    const socket = path.join(scratch, 'monitor.sock');
    const listen = start({ args: ['--monitor', `unix:${socket}`, '--max-entries', '1'] });
    await listen.untilRunning();
    const texts = ['', ''];
    const clients = texts.map((_, i) =>
      connect(socket)
        .setEncoding('utf8')
        .on('data', (text: string) => {
          texts[i] += text;
        }),
    );
    await Promise.all(clients.map((client) => new Promise((resolve) => client.once('connect', resolve))));
    // Connected is not accepted: wait until the first line gets there.
    await listen.until('both are heard', async () => {
      listen.send(upsert('10.0.0.1', Math.ceil(Math.random() * 1e6)));
      return texts.every((text) => text.length > 0);
    });
    listen.send(upsert('10.0.0.1', 5), upsert('10.0.0.2', 6));
    const failed = upserted('10.0.0.2', 6, undefined, ',"applied":false');
    await listen.until('a failed write', () => texts.every((text) => text.includes(failed)));
    expect(await mapWords(pin)).toEqual({ '10.0.0.1/32': '5' });
    listen.send({ op: 'delete', prefix: '10.0.0.1' });
    const written = upserted('10.0.0.2', 6);
    await listen.until('written after all', () => texts.every((text) => text.includes(written)));
    expect(await mapWords(pin)).toEqual({ '10.0.0.2/32': '6' });
    expect(await listen.stop()).toEqual({ code: 0, signal: null });
  });

  it('unix:PATH: a client that does not read is turned away, and one that stays does not hold up the end', async () => {
    const socket = path.join(scratch, 'monitor.sock');
    const listen = start({ args: ['--monitor', `unix:${socket}`] });
    await listen.untilRunning();
    const script = `require('node:net').connect({ path: process.argv[1], allowHalfOpen: true }).pause(); setInterval(() => {}, 1e6)`;
    const sleepers = [0, 1].map(() => spawn(process.execPath, ['-e', script, socket], { stdio: 'ignore' }));
    try {
      let n = 0;
      await listen.until(
        'turned away',
        async () => {
          const lines = Array.from({ length: 20_000 }, () => upsert('10.0.0.1', (++n % 1000) + 1000));
          listen.send(...lines, upsert(`10.1.0.1`, n));
          await listen.until('taken', async () => (await mapWords(pin))['10.1.0.1/32'] === `${n}`);
          return listen.stderr.includes('a client of the monitor does not read: turned away');
        },
        60_000,
      );
      const stays = connect({ path: socket, allowHalfOpen: true });
      await new Promise((resolve) => stays.once('connect', resolve));
      expect(await listen.stop()).toEqual({ code: 0, signal: null });
      stays.destroy();
    } finally {
      for (const sleeper of sleepers) sleeper.kill('SIGKILL');
    }
  });
});
