/** Restore and release killed at every system call that changes something: what is left is old or new, and the next run ends well. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCheckpoint } from '../../../src/lib/state/read-checkpoint.ts';
import { type InstalledProgram, installProgram } from '../../support/installed-program.ts';
import { Site } from '../../support/restore-site.ts';

const SECONDS = Number(process.env.IPC_TEST_SECONDS ?? 30);
/** Kills over all kinds that the long form of this test has to reach. */
const WANTED = 200;

const ENTRIES = [
  ...Array.from({ length: 40 }, (_, i) => ({ prefix: `198.51.${i}.0/24`, identity: 16777220 + i })),
  { prefix: '10.0.0.7/32', identity: 4711, tunnel: '192.0.2.10' },
  { prefix: '10.244.2.5/32', identity: 8 },
];
const NUMBERS = Object.fromEntries(ENTRIES.map(({ prefix, identity }) => [prefix, identity]));

let program: InstalledProgram;
let site: Site;
let kills = 0;
const until = Date.now() + SECONDS * 1000;

beforeAll(() => {
  program = installProgram();
  site = new Site('kill');
});
afterAll(() => {
  site[Symbol.dispose]();
  program[Symbol.dispose]();
});

/** One thread in the pool, so that the n-th call is the same in each run. */
function run(argv: readonly string[], inject?: string) {
  const command = [process.execPath, program.bin, ...argv, '--state-dir', site.stateDir, '--json'];
  const traced = inject === undefined ? command : ['strace', '-f', '-o', '/dev/null', '-e', inject, ...command];
  const [file = '', ...args] = traced;
  return spawnSync(file, args, {
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', UV_THREADPOOL_SIZE: '1' },
    encoding: 'utf8',
  });
}

interface Scene {
  readonly name: string;
  readonly argv: () => readonly string[];
  readonly prepare: () => void;
  /** The pin to look at afterwards. */
  readonly pin: () => string;
  /** Whether the entries are right, whole or in part. */
  readonly check: (numbers: Readonly<Record<string, number>> | undefined) => void;
  /** After one more run without a kill. */
  readonly end: (numbers: Readonly<Record<string, number>>) => void;
}

const to = (): string => `${site.pins}/moved`;
const claims = (): string => site.file('claims.ndjson');
const reset = (): void => {
  rmSync(site.stateDir, { recursive: true, force: true });
  for (const name of readdirSync(site.pins)) rmSync(join(site.pins, name), { force: true });
  site.map(ENTRIES);
};

const SCENES: readonly Scene[] = [
  {
    name: 'restore in place',
    argv: () => ['restore', '--map', site.pin, '--allocator-state', site.allocator('null')],
    prepare: reset,
    pin: () => site.pin,
    check: (numbers) => expect(numbers).toEqual(NUMBERS),
    end: (numbers) => expect(numbers).toEqual(NUMBERS),
  },
  {
    name: 'restore --to',
    argv: () => ['restore', '--map', site.pin, '--to', to(), '--all', '--allocator-state', site.allocator('null')],
    prepare: reset,
    pin: to,
    // The pin appears with the whole map or not at all.
    check: (numbers) =>
      expect(
        numbers === undefined ||
          JSON.stringify(Object.keys(numbers).sort()) === JSON.stringify(Object.keys(NUMBERS).sort()),
      ).toBe(true),
    end: (numbers) => expect(numbers).toEqual(NUMBERS),
  },
  {
    name: 'restore --recreate',
    argv: () => ['restore', '--map', site.pin, '--recreate', '--allocator-state', site.allocator('null')],
    prepare: reset,
    pin: () => site.pin,
    check: (numbers) => expect(numbers).toEqual(NUMBERS),
    end(numbers) {
      expect(numbers).toEqual(NUMBERS);
      expect(existsSync(`${site.pin}_pending`)).toBe(false);
    },
  },
  {
    name: 'release',
    argv: () => ['release', '--map', site.pin, '--now', '--claims', `ndjson:${claims()}`],
    prepare() {
      reset();
      expect(run(['restore', '--map', site.pin, '--allocator-state', site.allocator('null')]).status).toBe(0);
      const lines = ENTRIES.slice(0, 20).map(({ prefix, identity }) =>
        JSON.stringify({ op: 'upsert', prefix, identity, source: 'generated' }),
      );
      writeFileSync(claims(), `${lines.join('\n')}\n`);
    },
    pin: () => site.pin,
    check(numbers) {
      for (const [prefix, identity] of Object.entries(numbers ?? {})) expect(NUMBERS[prefix]).toBe(identity);
      // A number is never free while an entry has it.
      const remembered = new Set(readCheckpoint(site.stateDir)?.identities.map(({ identity }) => identity));
      for (const identity of Object.values(numbers ?? {}))
        if (identity > 0xffffff) expect(remembered).toContain(identity);
    },
    end(numbers) {
      expect(Object.keys(numbers)).toHaveLength(22);
      expect(readCheckpoint(site.stateDir)?.placeholders).toEqual([]);
    },
  },
];

const CALLS = ['bpf', 'rename', 'fsync', 'write', 'link', 'unlink', 'openat'] as const;

describe('killed at any call, the map and the state are old or new', () => {
  for (const [index, scene] of SCENES.entries()) {
    it(scene.name, async () => {
      const share = Date.now() + Math.max(4000, (until - Date.now()) / (SCENES.length - index));
      const ended = new Set<string>();
      for (let n = 1; ended.size < CALLS.length && (n <= 2 || Date.now() < share); n++) {
        for (const call of CALLS) {
          if (ended.has(call) || (n > 2 && Date.now() > share)) continue;
          // Opens are mostly those of the program's own files: only the later ones matter.
          const when = call === 'openat' ? n * 9 : n;
          scene.prepare();
          const { status, error, signal } = run(scene.argv(), `inject=${call}:signal=KILL:when=${when}`);
          expect(error).toBeUndefined();
          if (status === 0 && signal === null) ended.add(call);
          else kills++;
          scene.check(existsSync(scene.pin()) ? await site.numbers(scene.pin()) : undefined);
          expect(() => readCheckpoint(site.stateDir)).not.toThrow();
          if (n % 3 !== 1) continue;
          const again = run(scene.argv());
          expect(again.status, again.stderr).toBe(0);
          scene.end(await site.numbers(scene.pin()));
        }
      }
    }, 600_000);
  }

  it('has been killed often enough', () => {
    expect(kills).toBeGreaterThanOrEqual(SECONDS >= 600 ? WANTED : 20);
  });
});
