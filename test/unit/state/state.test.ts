import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { emptyCheckpoint } from '../../../src/lib/state/checkpoint.ts';
import { lockState, readLockHolder } from '../../../src/lib/state/lock.ts';
import { parseHolder } from '../../../src/lib/state/lock-holder.ts';
import { readCheckpoint } from '../../../src/lib/state/read-checkpoint.ts';
import { isSamePin } from '../../../src/lib/state/same-pin.ts';
import { openState } from '../../../src/lib/state/state.ts';

const TIME = '2026-01-02T03:04:05.006Z';
let dir: string;
let pins: string;
let directory: string;
let pin: string;
const groups: number[] = [];
beforeEach(() => {
  dir = fs.mkdtempSync(join(tmpdir(), 'ipc-state-'));
  pins = join(dir, 'globals');
  fs.mkdirSync(pins);
  directory = join(dir, 'var/lib/ipc');
  pin = join(pins, 'cilium_ipcache_v2');
});
afterEach(() => {
  for (const group of groups.splice(0)) process.kill(-group, 'SIGKILL');
  fs.rmSync(dir, { recursive: true, force: true });
});

/** Another process that holds a lock, through the flock(1) of the system. */
async function holdLock(path: string): Promise<number> {
  const child = spawn('flock', ['--exclusive', path, '--command', 'echo held; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const { pid: group = 0 } = child;
  groups.push(group);
  return group;
}
const openFds = (): number => fs.readdirSync('/proc/self/fd').length;

describe('lockState()', () => {
  it('excludes a second writer of the directory, names it, and closes what it opened', () => {
    using _first = lockState({ directory, pinDirectory: pins });
    const before = openFds();
    expect(() => lockState({ directory })).toThrow(
      expect.objectContaining({
        exitCode: 11,
        code: 'LOCKED',
        operands: { path: join(directory, 'lock'), pid: process.pid },
      }),
    );
    expect(openFds()).toBe(before);
    expect(readLockHolder(directory)?.pid).toBe(process.pid);
  });

  it('excludes a writer with another state directory and the same pin directory', () => {
    using _first = lockState({ directory, pinDirectory: pins });
    const before = openFds();
    expect(() => lockState({ directory: join(dir, 'other'), pinDirectory: pins })).toThrow(
      `Cannot lock ${pins}: ${process.argv0}`,
    );
    expect(openFds()).toBe(before);
    lockState({ directory: join(dir, 'other') })[Symbol.dispose]();
  });

  it('names another process by pid, and takes over when it is killed', async () => {
    fs.mkdirSync(directory, { recursive: true });
    fs.writeFileSync(join(directory, 'lock'), '1\n');
    const pid = await holdLock(join(directory, 'lock'));
    expect(() => lockState({ directory })).toThrow(`flock --exclusive`);
    expect(() => lockState({ directory })).toThrow(`(pid ${pid}) holds it`);
    process.kill(-(groups.pop() ?? 0), 'SIGKILL');
    await expect.poll(() => readLockHolder(directory)).toBeUndefined();
    using _lock = lockState({ directory });
    expect(fs.readFileSync(join(directory, 'lock'), 'utf8')).toBe(`${process.pid}\n`);
  });

  it('is free again after dispose, twice over', () => {
    const lock = lockState({ directory, pinDirectory: pins });
    lock[Symbol.dispose]();
    lock[Symbol.dispose]();
    const before = openFds();
    lockState({ directory, pinDirectory: pins })[Symbol.dispose]();
    expect(openFds()).toBe(before);
    expect(readLockHolder(directory)).toBeUndefined();
  });

  it('makes the directory for its owner only', () => {
    using _lock = lockState({ directory });
    expect(fs.statSync(directory).mode & 0o777).toBe(0o700);
    expect(fs.statSync(join(directory, 'lock')).mode & 0o777).toBe(0o600);
  });

  it('says which directory is missing', () => {
    expect(() => lockState({ directory, pinDirectory: join(dir, 'none') })).toThrow(
      `Cannot lock ${join(dir, 'none')}: no such file or directory`,
    );
    expect(readLockHolder(directory)).toBeUndefined();
  });
});

describe('parseHolder()', () => {
  const list = [
    '1: FLOCK  ADVISORY  WRITE 77 00:1b:12 0 EOF',
    '1: -> FLOCK  ADVISORY  WRITE 78 00:1b:13 0 EOF',
    '2: POSIX  ADVISORY  WRITE 79 fe:01:13 0 EOF',
    '3: FLOCK  ADVISORY  READ  80 103:02:13 0 EOF',
  ].join('\n');
  it('finds the holder by device and inode, not a waiter and not a record lock', () => {
    expect(parseHolder(list, 0x1bn, 12n)).toBe(77);
    expect(parseHolder(list, 0x1bn, 13n)).toBeUndefined();
    expect(parseHolder(list, 0xfe01n, 13n)).toBeUndefined();
    expect(parseHolder(list, 0x10302n, 13n)).toBe(80);
  });
});

describe('openState()', () => {
  const boot = 'b';
  it('gives back what was written, and keeps one generation before', async () => {
    for (const time of ['1', '2', '3'].map((digit) => TIME.replace('006', `00${digit}`))) {
      using state = openState({ directory, pin });
      await state.write({ ...(state.checkpoint ?? emptyCheckpoint(pin, time, boot)), time });
    }
    using state = openState({ directory, pin });
    expect(state.checkpoint).toEqual(emptyCheckpoint(pin, TIME.replace('006', '003'), boot));
    expect(fs.readFileSync(join(directory, 'checkpoint.json.previous'), 'utf8')).toContain('05.002Z');
    expect(fs.readdirSync(directory).sort()).toEqual(['checkpoint.json', 'checkpoint.json.previous', 'lock']);
  });

  it('writes in the order asked for, also when nobody waits in between', async () => {
    using state = openState({ directory, pin });
    const many = Array.from({ length: 2000 }, (_, i) => ({
      identity: 16777217 + i,
      prefixes: [`10.0.${i >> 8}.${i & 255}/32`],
    }));
    const first = state.write({ ...emptyCheckpoint(pin, TIME, boot), identities: many });
    await Promise.all([first, state.write(emptyCheckpoint(pin, TIME, boot))]);
    expect(state.checkpoint?.identities).toEqual([]);
    expect(fs.readFileSync(join(directory, 'checkpoint.json.previous'), 'utf8')).toContain('16779216');
  });

  it('refuses the state of another pin and says what to do', async () => {
    {
      using state = openState({ directory, pin });
      await state.write(emptyCheckpoint(pin, TIME, boot));
    }
    const before = fs.readFileSync(join(directory, 'checkpoint.json'));
    const other = join(pins, 'cilium_ipcache');
    expect(() => openState({ directory, pin: other })).toThrow(
      expect.objectContaining({
        exitCode: 13,
        code: 'STATE_OF_OTHER_PIN',
        hint: expect.stringContaining('--state-dir'),
      }),
    );
    expect(fs.readFileSync(join(directory, 'checkpoint.json'))).toEqual(before);
    using state = openState({ directory, pin: other, formerPin: pin });
    await state.write(emptyCheckpoint(other, TIME, boot));
    expect(state.checkpoint?.pin).toBe(other);
  });

  it.each([
    ['damaged', '{"schemaVersion":1'],
    ['newer', '{"schemaVersion":7}'],
  ])('does not open, and so never overwrites, a %s checkpoint', (_, text) => {
    fs.mkdirSync(directory, { recursive: true });
    fs.writeFileSync(join(directory, 'checkpoint.json'), text);
    const before = openFds();
    expect(() => openState({ directory, pin })).toThrow(expect.objectContaining({ exitCode: 9 }));
    expect(openFds()).toBe(before);
    expect(fs.readFileSync(join(directory, 'checkpoint.json'), 'utf8')).toBe(text);
  });

  it('keeps the old checkpoint when the new one cannot be written', async () => {
    using state = openState({ directory, pin });
    await state.write(emptyCheckpoint(pin, TIME, boot));
    const circular: { self?: unknown } = {};
    circular.self = circular;
    const broken = { ...emptyCheckpoint(pin, TIME, boot), restored: circular as never };
    await expect(state.write(broken)).rejects.toThrow();
    expect(fs.readdirSync(directory).sort()).toEqual(['checkpoint.json', 'lock']);
    await state.write(emptyCheckpoint(pin, TIME.replace('2026', '2027'), boot));
    expect(state.checkpoint?.time).toContain('2027');
  });

  it('streams lists that are made while they are written, and keeps nothing of them', async () => {
    using state = openState({ directory, pin });
    await state.write(emptyCheckpoint(pin, TIME, boot));
    const made: number[] = [];
    const identities = function* () {
      for (let i = 0; i < 1000; i++) {
        made.push(i);
        yield { identity: 0x01000001 + i, prefixes: new Set([`10.0.${i >> 8}.${i & 255}/32`]) };
      }
    };
    const placeholders = new Set([{ prefix: '10.0.0.0/32', identity: 0x01000001, time: TIME }]);
    const draft = { ...emptyCheckpoint(pin, TIME, boot), identities: identities(), placeholders };
    const written = state.stream(draft);
    expect(made).toHaveLength(0);
    await written;
    expect(made).toHaveLength(1000);
    expect(state.checkpoint).toBeUndefined();
    const { identities: read, placeholders: readPlaceholders } = readCheckpoint(directory) ?? {};
    expect(read?.at(-1)).toEqual({ identity: 0x01000001 + 999, prefixes: ['10.0.3.231/32'] });
    expect(readPlaceholders).toEqual([...placeholders]);
  });

  it('removes what a killed writer left', () => {
    fs.mkdirSync(directory, { recursive: true });
    fs.writeFileSync(join(directory, '.checkpoint.json.0123456789ab.tmp'), 'half');
    using _state = openState({ directory, pin });
    expect(fs.readdirSync(directory)).toEqual(['lock']);
  });
});

describe('isSamePin()', () => {
  it('knows one directory under two names', () => {
    fs.symlinkSync(pins, join(dir, 'alias'));
    expect(isSamePin(pin, join(dir, 'alias/cilium_ipcache_v2'))).toBe(true);
    expect(isSamePin(pin, join(dir, 'alias/cilium_ipcache'))).toBe(false);
    expect(isSamePin('/none/x', '/none/./x')).toBe(true);
    expect(isSamePin('/none/x', '/other/x')).toBe(false);
  });
});
