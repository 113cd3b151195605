import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import Gc from '../../../src/commands/gc.ts';
import SetCommand from '../../../src/commands/set.ts';
import { openPin } from '../../../src/lib/bpf/open-pin.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { type InstalledProgram, installProgram } from '../../support/installed-program.ts';
import { type ListenOptions, ListenProcess, mapWords } from '../../support/listen-process.ts';
import { entryBytes, pinnedIpcache, type WordEntry } from '../../support/pinned-ipcache.ts';
import { bpfDescriptors, type PinDirectory, pinDirectory } from '../../support/real-kernel.ts';
import { errorOf, runCommand } from '../../support/run-command.ts';
import { expectFits } from '../../support/schemas.ts';
import { HEALTHY, ScriptedAgent } from '../../support/scripted-agent.ts';

const kernel = new LinuxKernel();
const NOWHERE = '/nonexistent/agent.sock';
let directory: PinDirectory;
let pin: string;
let folder: string;
let state: string;
let descriptors: number;

beforeEach(() => {
  descriptors = bpfDescriptors();
  directory = pinDirectory('gc');
  pin = `${directory.path}/map`;
  folder = mkdtempSync(path.join(tmpdir(), 'ipc-gc-'));
  state = path.join(folder, 'state');
});
afterEach(() => {
  directory[Symbol.dispose]();
  rmSync(folder, { recursive: true });
  expect(bpfDescriptors()).toBe(descriptors);
});

function given(entries: readonly WordEntry[]): void {
  pinnedIpcache(kernel, pin, entries)[Symbol.dispose]();
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const pods = (count: number): WordEntry[] =>
  numbers(0, count).map((i) => ({ prefix: `10.0.0.${i}/32`, identity: 1000 + i, tunnel: '192.0.2.9' }));
const podNumbers = (count: number): Record<string, number> =>
  Object.fromEntries(pods(count).map(({ prefix, identity }) => [prefix, identity]));

function put(entry: WordEntry): void {
  using map = openPin(pin, { kernel, write: true });
  const { key, value } = entryBytes('v2', entry);
  map.update(key, value);
}

async function gc(argv: readonly string[], { socket = NOWHERE, stateDir = state } = {}) {
  const shared = ['--state-dir', stateDir, '--json', '--quiet'];
  const result = await runCommand(Gc, [...argv, ...shared], { env: { CILIUM_SOCK: socket } });
  const report = result.stdout === '' ? undefined : JSON.parse(result.stdout);
  if (report !== undefined) expectFits(report.kind, report);
  return { ...result, report };
}

const prefixes = (report: { items: { prefix: string }[] }): string[] => report.items.map(({ prefix }) => prefix);

describe('ipc gc --against agent', () => {
  let agent: ScriptedAgent;

  beforeEach(async () => {
    agent = new ScriptedAgent();
    agent.entries = podNumbers(9);
    await agent.start();
    agent.event('update', '10.0.0.1/32', 1001, 60_000);
    given(pods(10));
  });
  afterEach(() => agent[Symbol.asyncDispose]());

  const against = (...argv: string[]) => againstAfter('50ms', ...argv);
  const againstAfter = (confirm: string, ...argv: string[]) =>
    gc(['--map', pin, '--against', 'agent', '--confirm', confirm, '--timeout', '500ms', ...argv], {
      socket: agent.socket,
    });

  it('deletes on the map of an agent what the agent does not have, with one listing before and one after', async () => {
    const { exitCode, report } = await against();
    expect(exitCode).toBe(0);
    expect(report).toMatchObject({
      map: { owner: 'agent' },
      summary: { stale: 1, deleted: 1, raced: 0 },
      items: [{ action: 'delete', prefix: '10.0.0.9/32', reason: 'not in agent, twice, 0.05 s apart', done: true }],
    });
    expect(Object.keys(await mapWords(pin))).toHaveLength(9);
    expect(agent.listings).toBe(2);
    const undo = (report.undo as string).split(' ').slice(2);
    const back = await runCommand(SetCommand, [...undo, '--quiet'], { env: { CILIUM_SOCK: agent.socket } });
    expect(back.exitCode).toBe(0);
    expect(Object.keys(await mapWords(pin))).toHaveLength(10);
  });

  it('everything else is refused there', async () => {
    const file = path.join(folder, 'desired.ndjson');
    writeFileSync(file, '{"op":"upsert","prefix":"10.0.0.1/32","identity":1001}\n{"op":"synced"}\n');
    for (const argv of [['--against', `ndjson:${file}`], ['--orphans'], ['--tunnel', '192.0.2.9', '--assume-gone']]) {
      const result = await gc(['--map', pin, ...argv], { socket: agent.socket });
      expect(errorOf(result)).toMatchObject({ exitCode: 13, code: 'OWNED_BY_AGENT' });
    }
    expect(agent.listings).toBe(0);
  });

  it('what is added between the readings is withdrawn, as an event and as a listing', async () => {
    for (const hasEvents of [true, false]) {
      agent.hasEvents = hasEvents;
      agent.entries = podNumbers(9);
      agent.listings = 0;
      agent.beforeListing = (listings) => {
        if (listings > 0) agent.entries = podNumbers(10);
        else if (hasEvents) setTimeout(() => agent.event('update', '10.0.0.9/32', 1009), 10);
      };
      const { report } = await againstAfter('200ms');
      expect(report).toMatchObject({ changed: false, summary: { stale: 0, withdrawn: 1, deleted: 0 } });
    }
    expect(Object.keys(await mapWords(pin))).toHaveLength(10);
  });

  it('op 39b: what it has again after the deletes is put back as raced', async () => {
    agent.beforeListing = (listings) => {
      if (listings > 0) agent.entries = podNumbers(10);
    };
    const { report } = await against();
    expect(report).toMatchObject({
      changed: false,
      summary: { stale: 1, deleted: 0, raced: 1 },
      items: [{ action: 'keep', prefix: '10.0.0.9/32', reason: 'raced: in agent again, put back' }],
    });
    expect(Object.keys(await mapWords(pin))).toHaveLength(10);
  });

  it('the placeholders that it restored are wanted like everything that it lists', async () => {
    put({ prefix: '192.0.2.0/24', identity: 16_777_217 });
    put({ prefix: '192.0.3.0/24', identity: 16_777_218 });
    agent.entries = { ...podNumbers(10), '192.0.2.0/24': 16_777_217 };
    const { report } = await against('--max-delete', '50%');
    expect(prefixes(report)).toEqual(['192.0.3.0/24']);
  });

  it('works by its addresses where it keeps no memory of the map', async () => {
    agent.hasCache = false;
    const { report } = await against();
    expect(prefixes(report)).toEqual(['10.0.0.9/32']);
    // Three times the memory that it has not, and then the addresses.
    expect(agent.listings).toBe(6);
  });

  it.each([
    [
      'is not synced',
      () => {
        agent.health = '{"cilium":{"state":"Failure"}}';
      },
    ],
    [
      'is empty',
      () => {
        agent.entries = {};
      },
    ],
    [
      'dies between the readings',
      () => {
        agent.beforeListing = () => {
          agent.health = (_request, response) => void response.destroy();
        };
      },
    ],
    [
      'loses its sync between the readings',
      () => {
        agent.beforeListing = () => {
          agent.health = '{"cilium":{"state":"Failure"}}';
        };
      },
    ],
  ])('an agent that %s deletes nothing', async (_what, prepare) => {
    prepare();
    expect(errorOf(await against())).toMatchObject({ exitCode: 8 });
    expect(Object.keys(await mapWords(pin))).toHaveLength(10);
  });

  it('an agent that dies before the last look: everything is put back', async () => {
    agent.hasEvents = false;
    agent.beforeListing = (listings) => {
      if (listings === 1) agent.health = (_request, response) => void response.destroy();
      else agent.health = HEALTHY;
    };
    expect(errorOf(await against())).toMatchObject({ exitCode: 8 });
    expect(Object.keys(await mapWords(pin))).toHaveLength(10);
  });

  it('nobody there is 8', async () => {
    const result = await gc(['--map', pin, '--against', `agent:${folder}/nobody.sock`]);
    expect(errorOf(result)).toMatchObject({ exitCode: 8, code: 'AGENT_UNREACHABLE' });
  });
});

describe('ipc gc and a running ipc listen', () => {
  let program: InstalledProgram;
  let running: ListenProcess[];

  beforeAll(() => {
    program = installProgram();
  });
  afterAll(() => program[Symbol.dispose]());
  beforeEach(() => {
    running = [];
  });
  afterEach(async () => {
    for (const listen of running) await listen.stop('SIGKILL');
  });

  async function listening(options: Partial<ListenOptions> = {}): Promise<ListenProcess> {
    given([...pods(10), { prefix: '10.0.0.0/8', identity: 2 }]);
    const listen = new ListenProcess({ program, pin, scratch: folder, args: ['--no-restore'], ...options });
    running.push(listen);
    for (const { prefix, identity } of pods(9)) listen.send({ op: 'upsert', prefix, identity });
    await listen.untilRunning();
    return listen;
  }

  async function ready(listen: ListenProcess): Promise<void> {
    listen.send({ op: 'synced' });
    await listen.until('ready', async () => (await listen.status()).ready);
  }

  it('asks the loop to collect on its own map, found by itself, as on any other', async () => {
    const listen = await listening();
    await ready(listen);
    const argv = ['--socket', listen.socket, '--confirm', '0s'];
    const dry = await gc([...argv, '--dry-run', '--all-items']);
    expect(dry.report).toMatchObject({ dryRun: true, changed: false, summary: { stale: 1, deleted: 0, skipped: 1 } });
    expect(Object.keys(await mapWords(pin))).toHaveLength(11);

    const { exitCode, report } = await gc(argv);
    expect(exitCode).toBe(0);
    expect(report).toMatchObject({
      changed: true,
      map: { pin, owner: 'ipc' },
      summary: { entries: 11, stale: 1, deleted: 1, kept: 10, skipped: 1 },
      items: [
        {
          action: 'delete',
          prefix: '10.0.0.9/32',
          reason: 'not in listen, twice, 0 s apart',
          fallsTo: '10.0.0.0/8 world',
          done: true,
        },
      ],
      backup: expect.stringContaining(path.join(folder, 'state', 'backups')),
    });
    expect(report).not.toHaveProperty('undo');
    expect(Object.keys(await mapWords(pin))).toHaveLength(10);
    expect((await listen.status()).gc).toMatchObject({ deleted: 1 });
  });

  it('the limits and other flags of gc go with the request', async () => {
    const listen = await listening();
    await ready(listen);
    const argv = ['--against', `listen:${listen.socket}`, '--map', pin, '--confirm', '0s'];
    expect(errorOf(await gc([...argv, '--max-delete', '0']))).toMatchObject({
      exitCode: 13,
      code: 'TOO_MANY',
      hint: expect.any(String),
    });
    expect((await gc([...argv, '--tunnel', '192.0.2.77'])).report.summary).toMatchObject({ stale: 0 });
    expect((await gc([...argv, '--tunnel', '192.0.2.9'])).report.summary).toMatchObject({ deleted: 1 });
    expect(errorOf(await gc([...argv, '--orphans']))).toMatchObject({ exitCode: 13, code: 'OWNED_BY_LISTEN' });
  });

  it('a loop whose sources are not complete refuses, and nobody else may collect there', async () => {
    const listen = await listening();
    const argv = ['--map', pin, '--confirm', '0s'];
    expect(errorOf(await gc([...argv, '--against', `listen:${listen.socket}`]))).toMatchObject({
      exitCode: 13,
      code: 'NOT_SYNCED',
    });
    const file = path.join(folder, 'desired.ndjson');
    writeFileSync(file, '{"op":"upsert","prefix":"10.0.0.1/32","identity":1001}\n{"op":"synced"}\n');
    const result = await gc([...argv, '--against', `ndjson:${file}`]);
    expect(errorOf(result)).toMatchObject({ exitCode: 11, pid: listen.child.pid });
    expect(Object.keys(await mapWords(pin))).toHaveLength(11);
  });

  it('its cache is the desired state of another map, once it is complete', async () => {
    const listen = await listening();
    await ready(listen);
    using other = pinDirectory('gc-other');
    pinnedIpcache(kernel, `${other.path}/map`, pods(10))[Symbol.dispose]();
    const argv = ['--map', `${other.path}/map`, '--confirm', '0s'];
    const where = { stateDir: path.join(folder, 'other') };
    const implied = errorOf(await gc([...argv, '--socket', listen.socket], where));
    expect(implied).toMatchObject({ exitCode: 2, code: 'NO_DESIRED_STATE', message: expect.stringContaining(pin) });
    const { report } = await gc([...argv, '--against', `listen:${listen.socket}`], where);
    expect(prefixes(report)).toEqual(['10.0.0.9/32']);
    await listen.stop();
    const gone = await gc([...argv, '--against', `listen:${listen.socket}`], where);
    expect(errorOf(gone)).toMatchObject({ exitCode: 8, code: 'LISTEN_UNREACHABLE' });
    expect(errorOf(await gc([...argv, '--socket', listen.socket], where))).toMatchObject({
      exitCode: 2,
      code: 'NO_DESIRED_STATE',
    });
  });

  it.each(['null', '[]', '{"map":null}', '{"map":{"id":1}}'])(
    '%s of something else on its socket is no state',
    async (answer) => {
      given(pods(10));
      const socket = path.join(folder, 'stranger.sock');
      const server = createServer((_, response) => response.end(answer)).listen(socket);
      await once(server, 'listening');
      const argv = ['--map', pin, '--confirm', '0s'];
      try {
        for (const where of [
          ['--socket', socket],
          ['--against', `listen:${socket}`],
        ]) {
          expect(errorOf(await gc([...argv, ...where]))).toMatchObject({ exitCode: 8, code: 'SOURCE_NOT_SYNCED' });
        }
      } finally {
        server.close();
      }
      expect(Object.keys(await mapWords(pin))).toHaveLength(10);
    },
  );
});
