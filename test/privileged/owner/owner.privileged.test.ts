import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMap } from '../../../src/lib/bpf/create-map.ts';
import type { BpfMap } from '../../../src/lib/bpf/map.ts';
import { openPin } from '../../../src/lib/bpf/open-pin.ts';
import { pinMap } from '../../../src/lib/bpf/pin.ts';
import { BPF_F_NO_PREALLOC, BPF_MAP_TYPE_LPM_TRIE } from '../../../src/lib/bpf/uapi.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { checkOwner } from '../../../src/lib/owner/check-owner.ts';
import { collectOwnerEvidence } from '../../../src/lib/owner/collect-evidence.ts';
import { decideOwner, type Ownership } from '../../../src/lib/owner/decide-owner.ts';
import type { Operation } from '../../../src/lib/owner/operations.ts';
import { emptyCheckpoint } from '../../../src/lib/state/checkpoint.ts';
import { openState } from '../../../src/lib/state/state.ts';
import { loadProgram } from '../../support/load-program.ts';

const PINS = '/sys/fs/bpf/ipc-test-owner';
const PIN = `${PINS}/cilium_ipcache_v2`;
const MUTATING: readonly Operation[] = ['set', 'delete', 'restore', 'recreate', 'release', 'gc', 'listen', 'hand-over'];
const kernel = new LinuxKernel();
const openFds = (): number => fs.readdirSync('/proc/self/fd').length;

let dir: string;
let map: BpfMap;
let fdsBefore: number;
let server: Server | undefined;
const children: number[] = [];

beforeEach(() => {
  fdsBefore = openFds();
  fs.rmSync(PINS, { recursive: true, force: true });
  fs.mkdirSync(PINS);
  dir = fs.mkdtempSync(join(tmpdir(), 'ipc-owner-'));
  const flags = BPF_F_NO_PREALLOC;
  map = createMap(kernel, { type: BPF_MAP_TYPE_LPM_TRIE, keyBytes: 24, valueBytes: 24, maxEntries: 16, flags });
  pinMap(map, PIN);
});
afterEach(async () => {
  for (const pid of children.splice(0)) process.kill(pid, 'SIGKILL');
  await new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
  server = undefined;
  map[Symbol.dispose]();
  fs.rmSync(PINS, { recursive: true, force: true });
  fs.rmSync(dir, { recursive: true, force: true });
  await expect.poll(openFds).toBeLessThanOrEqual(fdsBefore);
});

const inspect = async (options = {}): Promise<Ownership> => {
  const evidence = await collectOwnerEvidence({
    kernel,
    mapId: map.info.id,
    pin: PIN,
    stateDirectory: join(dir, 'state'),
    agentSocket: join(dir, 'cilium.sock'),
    timeoutMs: 200,
    ...options,
  });
  return decideOwner(evidence);
};

/** Another process that has `fd` as its standard input, and nothing else to do with us. */
async function holdByChild(fd: number): Promise<number> {
  const child = spawn('sleep', ['60'], { stdio: [fd, 'ignore', 'ignore'] });
  await new Promise((resolve) => child.once('spawn', resolve));
  const { pid = 0 } = child;
  children.push(pid);
  return pid;
}

async function refusals(ownership: Ownership): Promise<void> {
  for (const operation of MUTATING) {
    const refusal = checkOwner(operation, PIN, ownership, { programsWillReload: true });
    if (operation === 'hand-over' && !ownership.agentAlive) {
      expect(refusal).toBeUndefined();
      continue;
    }
    expect(refusal, operation).toMatchObject({ exitCode: 13, code: 'OWNED_BY_AGENT' });
    expect(refusal?.message).toContain(ownership.reasons[0]);
  }
  expect(checkOwner('gc-agent', PIN, ownership)).toBeUndefined();
}

describe('op 39c: whose map it is', () => {
  it('nobody has a map that nothing else uses', async () => {
    expect(await inspect()).toMatchObject({ owner: 'nobody', reasons: [], agentAlive: false });
  });

  it('a second process that holds the map read-write is an agent; every mutating operation refuses', async () => {
    const pid = await holdByChild(map.fd);
    const ownership = await inspect();
    expect(ownership).toMatchObject({
      owner: 'agent',
      pid,
      reasons: [`process ${pid} (sleep) holds the map read-write`],
    });
    await refusals(ownership);
  });

  it('a second process that only reads is none', async () => {
    using reader = openPin(PIN, { kernel });
    const pid = await holdByChild(reader.fd);
    const ownership = await inspect();
    expect(ownership.owner).toBe('nobody');
    expect(ownership.evidence.processes).toEqual([{ pid, comm: 'sleep', writes: false }]);
    expect(checkOwner('recreate', PIN, ownership)).toMatchObject({ code: 'MAP_IN_USE', operands: { pid } });
  });

  it.each([
    [
      'answers as an agent',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}',
      /^an agent answers on .*cilium\.sock \(pid \d+\)$/,
    ],
    ['is silent', '', /cilium\.sock exists and is silent/],
  ])('a socket that %s is an agent; every mutating operation refuses', async (_, answer, words) => {
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.write(answer));
    });
    await new Promise<void>((resolve) => server?.listen(join(dir, 'cilium.sock'), resolve));
    for (const agentSocket of [join(dir, 'cilium.sock'), `unix://${dir}/cilium.sock`]) {
      const ownership = await inspect({ agentSocket });
      expect(ownership).toMatchObject({ owner: 'agent', agentAlive: true, pid: process.pid });
      expect(ownership.reasons[0]).toMatch(words);
      await refusals(ownership);
    }
  });

  it('a loaded program named cil_test that uses the map is an agent; every mutating operation refuses', async () => {
    using _program = loadProgram(kernel, { fd: map.fd, keyBytes: 24 }, 'cil_test');
    const ownership = await inspect();
    expect(ownership).toMatchObject({ owner: 'agent', agentAlive: false });
    expect(ownership.reasons).toEqual(['the loaded program cil_test holds the map']);
    await refusals(ownership);
  });

  it('a program of another name is none, but its map is not recreated under it', async () => {
    using _program = loadProgram(kernel, { fd: map.fd, keyBytes: 24 }, 'my_datapath');
    const ownership = await inspect();
    expect(ownership.owner).toBe('nobody');
    expect(checkOwner('set', PIN, ownership)).toBeUndefined();
    expect(checkOwner('recreate', PIN, ownership)?.message).toContain('1 loaded program');
  });

  it('ipc has the map that its state directory names, and may write it while it holds the locks', async () => {
    using state = openState({ directory: join(dir, 'state'), pin: PIN });
    await state.write(emptyCheckpoint(PIN, '2026-01-02T03:04:05.006Z', 'b'));
    expect(await inspect()).toMatchObject({ owner: 'ipc' });
    const other = await inspect({ pin: `${PINS}/cilium_ipcache` });
    expect(other.owner).toBe('nobody');
  });

  it('another ipc that holds the locks and the map is no agent', async () => {
    fs.mkdirSync(join(dir, 'state'));
    const child = spawn('flock', ['--exclusive', '--no-fork', join(dir, 'state/lock'), 'sleep', '60'], {
      stdio: [map.fd, 'ignore', 'ignore'],
    });
    children.push(child.pid ?? 0);
    await expect.poll(async () => (await inspect()).evidence.ipc).toEqual({ pid: child.pid });
    expect(await inspect()).toMatchObject({ owner: 'ipc', pid: child.pid });
  });
});

describe('loadProgram()', () => {
  it('sees in the map what the datapath sees', () => {
    const key = (length: number, ...address: number[]): Uint8Array =>
      Uint8Array.from([length, 0, 0, 0, 0, 0, 0, 1, ...address, ...Array(16 - address.length).fill(0)]);
    const value = (identity: number): Uint8Array => {
      const bytes = new Uint8Array(24);
      new DataView(bytes.buffer).setUint32(0, identity, true);
      return bytes;
    };
    map.update(key(32 + 8, 10), value(16777217));
    map.update(key(32 + 24, 10, 1, 2), value(0x02000001));
    using program = loadProgram(kernel, { fd: map.fd, keyBytes: 24 }, 'ipc_lookup');
    expect(program.identityOf(key(64, 10, 1, 2, 3))).toBe(0x02000001);
    expect(program.identityOf(key(64, 10, 9, 9, 9))).toBe(16777217);
    expect(program.identityOf(key(64, 11, 0, 0, 1))).toBe(0);
  });
});
