import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import Delete from '../../../src/commands/delete.ts';
import SetCommand from '../../../src/commands/set.ts';
import type { BpfMap } from '../../../src/lib/bpf/map.ts';
import { openPin } from '../../../src/lib/bpf/open-pin.ts';
import { walkMap } from '../../../src/lib/bpf/walk.ts';
import { decodeEntry } from '../../../src/lib/ipcache/entry.ts';
import { layoutNamed } from '../../../src/lib/ipcache/layout.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { loadProgram } from '../../support/load-program.ts';
import { entryBytes, pinnedIpcache, type WordEntry } from '../../support/pinned-ipcache.ts';
import { bpfDescriptors, type PinDirectory, pinDirectory } from '../../support/real-kernel.ts';
import { errorOf, runCommand } from '../../support/run-command.ts';
import { expectFits } from '../../support/schemas.ts';

const kernel = new LinuxKernel();
const NONE = '/nonexistent/agent.sock';
let directory: PinDirectory;
let pin: string;
let state: string;
let descriptors: number;

beforeEach(() => {
  descriptors = bpfDescriptors();
  directory = pinDirectory('change');
  pin = `${directory.path}/map`;
  state = mkdtempSync(join(tmpdir(), 'ipc-change-'));
});
afterEach(() => {
  directory[Symbol.dispose]();
  rmSync(state, { recursive: true });
  expect(bpfDescriptors()).toBe(descriptors);
});

/** Makes the pinned map; nothing holds it open afterwards. */
function given(entries: readonly WordEntry[], layout: 'v2' | '1.16' = 'v2'): void {
  pinnedIpcache(kernel, pin, entries, layout)[Symbol.dispose]();
}

async function run(command: unknown, ...argv: string[]) {
  const shared = ['--map', pin, '--state-dir', state, '--json', '--quiet'];
  const result = await runCommand(command, [...argv, ...shared], { env: { CILIUM_SOCK: NONE } });
  const report = result.stdout === '' ? undefined : JSON.parse(result.stdout);
  if (report !== undefined) expectFits(report.kind, report);
  return { ...result, report };
}

async function entries(): Promise<string[]> {
  using map: BpfMap = openPin(pin, { kernel });
  const found: string[] = [];
  for await (const batch of walkMap(map)) {
    for (let i = batch.firstNew; i < batch.count; i++) {
      const bytes = { keys: batch.keys, keyOffset: i * 24, values: batch.values, valueOffset: i * map.info.valueBytes };
      const entry = decodeEntry(layoutNamed(map.info.valueBytes === 24 ? 'v2' : '1.16'), bytes);
      found.push(`${entry.prefix}=${entry.identity}${entry.tunnelEndpoint ? ` ${entry.tunnelEndpoint}` : ''}`);
    }
  }
  return found.sort();
}

describe('ipc set', () => {
  it('op 08: host bits are masked, and the canonical spelling finds the entry', async () => {
    given([]);
    const { exitCode, report } = await run(SetCommand, '10.0.0.5/24', '--identity', '16777217');
    expect(exitCode).toBe(0);
    expect(report).toMatchObject({
      kind: 'set',
      changed: true,
      map: { layout: 'v2', owner: 'nobody', programs: 0 },
      summary: { added: 1, updated: 0, kept: 0 },
      items: [{ action: 'add', prefix: '10.0.0.0/24', identity: 16777217, reason: 'new', done: true }],
    });
    expect(await entries()).toEqual(['10.0.0.0/24=16777217']);
  });

  it('op 05: an entry stored with host bits is hit by its canonical spelling, by set and by delete', async () => {
    given([]);
    using map = openPin(pin, { kernel, write: true });
    const { key, value } = entryBytes('v2', { prefix: '10.0.0.0/24', identity: 5 });
    key[11] = 5;
    map.update(key, value);
    expect(
      (await run(SetCommand, '10.0.0.0/24', '--identity', '6', '--replace', '--override-owner')).report,
    ).toMatchObject({
      items: [{ action: 'update', before: { identity: 5 } }],
    });
    expect(await entries()).toEqual(['10.0.0.0/24=6']);
    map.update(key, value);
    expect((await run(Delete, '10.0.0.0/24', '--override-owner')).exitCode).toBe(0);
    expect(await entries()).toEqual([]);
  });

  it('an equal value is no write, and asks nobody', async () => {
    given([{ prefix: '10.0.0.1/32', identity: 5, tunnel: '192.0.2.1' }]);
    const { exitCode, report } = await run(SetCommand, '10.0.0.1', '--identity', '5', '--tunnel', '192.0.2.1');
    expect(exitCode).toBe(0);
    expect(report).toMatchObject({
      changed: false,
      summary: { kept: 1 },
      items: [{ action: 'keep', reason: 'equal', done: false }],
    });
  });

  it('op 12: the flags of the tunnel follow from the tunnel, and a zero tunnel is refused', async () => {
    given([]);
    const { report } = await run(
      SetCommand,
      '10.0.0.1',
      '--identity',
      '5',
      '--tunnel',
      'fd00::2',
      '--flag',
      'skiptunnel',
    );
    expect(report.items[0].value.slice(-2)).toBe('07');
    for (const tunnel of ['0.0.0.0', '::']) {
      const refused = await run(SetCommand, '10.0.0.2', '--identity', '5', '--tunnel', tunnel);
      expect({ exit: refused.exitCode, stdout: refused.stdout }).toEqual({ exit: 2, stdout: '' });
    }
    expect(await entries()).toEqual(['10.0.0.1/32=5 fd00::2']);
  });

  it('op 13: unknown flag bits are the same after the entry is written again', async () => {
    given([{ prefix: '10.0.0.1/32', identity: 5, flags: 0xf0 }]);
    const { report } = await run(SetCommand, '10.0.0.1', '--identity', '6', '--tunnel', '192.0.2.1');
    expect(report.items[0].value.slice(-2)).toBe('f2');
  });

  it('says which tunnel and key the entry loses, and which it hides', async () => {
    given([
      { prefix: '10.0.0.1/32', identity: 5, tunnel: '192.0.2.1', encryptKey: 3 },
      { prefix: '10.1.0.0/16', identity: 5, tunnel: '192.0.2.9' },
    ]);
    expect((await run(SetCommand, '10.0.0.1', '--identity', '6')).report.warnings).toEqual([
      'the entry had the tunnel 192.0.2.1, the new one has none',
      'the entry had the encrypt key 3, the new one has none',
    ]);
    expect((await run(SetCommand, '10.1.2.3', '--identity', '6')).report.warnings).toEqual([
      '10.1.0.0/16, which it hides, has the tunnel 192.0.2.9, the new one has none',
    ]);
  });

  it.each([
    ['--create and there is one', ['10.0.0.1', '--create'], 'ENTRY_EXISTS'],
    ['--replace and there is none', ['10.0.0.2', '--replace'], 'NO_SUCH_ENTRY'],
    ['another identity than expected', ['10.0.0.1', '--expect-identity', '7'], 'UNEXPECTED_IDENTITY'],
    ['an identity expected and there is no entry', ['10.0.0.2', '--expect-identity', '5'], 'NO_SUCH_ENTRY'],
  ])('refuses, also when dry: %s', async (_, argv, code) => {
    given([
      { prefix: '10.0.0.0/8', identity: 5 },
      { prefix: '10.0.0.1/32', identity: 5 },
    ]);
    for (const dry of [[], ['--dry-run']]) {
      const result = await run(SetCommand, ...argv, '--identity', '6', ...dry);
      expect({ exit: result.exitCode, code: errorOf(result).code }).toEqual({ exit: 13, code });
    }
    expect(await entries()).toEqual(['10.0.0.0/8=5', '10.0.0.1/32=5']);
  });

  it('a dry run shows the bytes and changes nothing', async () => {
    given([]);
    const { exitCode, report } = await run(SetCommand, '10.0.0.1', '--identity', '5', '--dry-run');
    expect(exitCode).toBe(0);
    expect(report).toMatchObject({
      changed: false,
      dryRun: true,
      items: [
        { key: '40000000000000010a000001000000000000000000000000', value: `05000000${'0'.repeat(40)}`, done: false },
      ],
    });
    expect(await entries()).toEqual([]);
  });

  it('writes the layout that the map has, and refuses what it has no place for', async () => {
    given([{ prefix: '10.0.0.1/32', identity: 5, flags: 1 }], '1.16');
    const set = await run(SetCommand, '10.0.0.2', '--identity', '7', '--tunnel', '192.0.2.1', '--encrypt-key', '3');
    expect(set.report).toMatchObject({ map: { layout: '1.16' }, items: [{ value: '07000000c000020100000300' }] });
    expect((await run(SetCommand, '10.0.0.3', '--identity', '7', '--tunnel', 'fd00::1')).exitCode).toBe(4);
    expect(await entries()).toEqual(['10.0.0.1/32=5', '10.0.0.2/32=7 192.0.2.1']);
  });

  it('a key or flags in a map of unknown layout need --layout', async () => {
    given([{ prefix: '10.0.0.1/32', identity: 5 }], '1.16');
    const argv = ['10.0.0.2', '--identity', '7', '--encrypt-key', '3'];
    expect((await run(SetCommand, ...argv)).exitCode).toBe(4);
    expect((await run(SetCommand, ...argv, '--layout', '1.5')).report.items[0].value).toBe('070000000000000003000000');
  });
});

describe('ipc delete', () => {
  const WORLD: WordEntry = { prefix: '0.0.0.0/0', identity: 2 };

  it('op 09: a bare address is the /32, and it is told what answers then', async () => {
    given([WORLD, { prefix: '10.0.0.0/8', identity: 6 }, { prefix: '10.68.0.82/32', identity: 4321 }]);
    const { exitCode, report } = await run(Delete, '10.68.0.82');
    expect(exitCode).toBe(0);
    expect(report).toMatchObject({
      kind: 'delete',
      summary: { deleted: 1, skipped: 0 },
      items: [
        { action: 'delete', prefix: '10.68.0.82/32', identity: 4321, fallsTo: '10.0.0.0/8 remote-node', done: true },
      ],
    });
    expect(await entries()).toEqual(['0.0.0.0/0=2', '10.0.0.0/8=6']);
  });

  it('what answers then is nothing that goes as well', async () => {
    given([WORLD, { prefix: '10.0.0.0/8', identity: 6 }, { prefix: '10.0.0.1/32', identity: 5 }]);
    const { report } = await run(Delete, '10.0.0.1', '10.0.0.0/8', '--dry-run');
    expect(report.items.map(({ fallsTo }: { fallsTo: string }) => fallsTo)).toEqual([
      '0.0.0.0/0 world',
      '0.0.0.0/0 world',
    ]);
    expect((await run(Delete, '0.0.0.0/0')).report.items[0]).not.toHaveProperty('fallsTo');
  });

  it('deletes nothing when one of several is missing, unless told to pass it over', async () => {
    given([
      { prefix: '10.0.0.0/8', identity: 6 },
      { prefix: '10.0.0.1/32', identity: 5 },
    ]);
    const result = await run(Delete, '10.0.0.1', '10.0.0.2');
    expect({ exit: result.exitCode, code: errorOf(result).code }).toEqual({ exit: 12, code: 'NO_ENTRY' });
    expect(await entries()).toHaveLength(2);
    const { exitCode, report } = await run(Delete, '10.0.0.1', '10.0.0.2', '--ignore-not-found');
    expect({ exitCode, summary: report.summary }).toEqual({ exitCode: 0, summary: { deleted: 1, skipped: 1 } });
    expect(await entries()).toEqual(['10.0.0.0/8=6']);
  });

  it('deletes nothing when one of several has another identity', async () => {
    given([
      { prefix: '10.0.0.1/32', identity: 5 },
      { prefix: '10.0.0.2/32', identity: 6 },
    ]);
    const result = await run(Delete, '10.0.0.1', '10.0.0.2', '--expect-identity', '5');
    expect({ exit: result.exitCode, code: errorOf(result).code }).toEqual({ exit: 13, code: 'UNEXPECTED_IDENTITY' });
    expect(await entries()).toHaveLength(2);
  });

  it('an equal wider entry does not stand for a missing one', async () => {
    given([{ prefix: '10.0.0.0/8', identity: 5 }]);
    expect((await run(Delete, '10.0.0.1')).exitCode).toBe(12);
    expect(await entries()).toEqual(['10.0.0.0/8=5']);
  });
});

describe('whose map it is', () => {
  const COMMANDS: readonly (readonly [unknown, readonly string[]])[] = [
    [SetCommand, ['10.0.0.1', '--identity', '7']],
    [Delete, ['10.0.0.1']],
  ];

  it('op 39c: a process that holds the map read-write', async () => {
    using _map = pinnedIpcache(kernel, pin, [{ prefix: '10.0.0.1/32', identity: 5 }]);
    const { spawn } = await import('node:child_process');
    const holder = spawn(process.execPath, ['-e', HOLDER, pin], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => holder.stdout.once('data', resolve));
    try {
      for (const [command, argv] of COMMANDS) {
        const result = await run(command, ...argv);
        expect(errorOf(result)).toMatchObject({ exitCode: 13, code: 'OWNED_BY_AGENT', pid: holder.pid });
        expect((await run(command, ...argv, '--override-owner', '--dry-run')).exitCode).toBe(0);
      }
    } finally {
      holder.kill();
      await new Promise((resolve) => holder.once('close', resolve));
    }
    expect(await entries()).toEqual(['10.0.0.1/32=5']);
  });

  it('op 39c: a socket that answers as an agent', async () => {
    given([{ prefix: '10.0.0.1/32', identity: 5 }]);
    const socket = join(state, 'cilium.sock');
    const server = createServer((client) => client.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'));
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    try {
      for (const [command, argv] of COMMANDS) {
        const result = await runCommand(command, [...argv, '--map', pin, '--state-dir', state, '--json'], {
          env: { CILIUM_SOCK: socket },
        });
        expect(errorOf(result)).toMatchObject({ exitCode: 13, message: expect.stringContaining(socket) });
      }
    } finally {
      server.close();
    }
    expect(await entries()).toEqual(['10.0.0.1/32=5']);
  });

  it('op 39c: a loaded program named cil_test', async () => {
    using map = pinnedIpcache(kernel, pin, [{ prefix: '10.0.0.1/32', identity: 5 }]);
    using _program = loadProgram(kernel, { fd: map.fd, keyBytes: 24 }, 'cil_test');
    for (const [command, argv] of COMMANDS) {
      const result = await run(command, ...argv);
      expect(errorOf(result)).toMatchObject({ exitCode: 13, message: expect.stringContaining('cil_test') });
      expect((await run(command, ...argv, '--override-owner', '--dry-run')).exitCode).toBe(0);
    }
    expect(await entries()).toEqual(['10.0.0.1/32=5']);
  });

  it('another ipc that writes holds the lock', async () => {
    given([{ prefix: '10.0.0.1/32', identity: 5 }]);
    const { lockState } = await import('../../../src/lib/state/lock.ts');
    using _lock = lockState({ directory: state });
    writeFileSync(join(state, 'note'), 'x');
    for (const [command, argv] of COMMANDS) {
      for (const dry of [[], ['--dry-run']]) {
        const result = await run(command, ...argv, ...dry);
        expect(errorOf(result)).toMatchObject({ exitCode: 11, code: 'LOCKED', pid: process.pid });
      }
    }
  });
});

/** Opens the pin read-write and keeps it. */
const HOLDER = `
const koffi = require('koffi');
const syscall = koffi.load(null).func('long syscall(long, int, void*, unsigned int)');
const path = Buffer.from(process.argv[1] + '\\0');
const attr = Buffer.alloc(128);
attr.writeBigUInt64LE(koffi.address(path), 0);
const fd = syscall(process.arch === 'arm64' ? 280 : 321, 7, attr, 16);
if (fd < 0) throw new Error('cannot open ' + process.argv[1]);
console.log('open');
setInterval(() => {}, 1000);
`;
