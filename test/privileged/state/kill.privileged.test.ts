import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listBackups } from '../../../src/lib/state/backup.ts';
import { readBackup } from '../../../src/lib/state/read-backup.ts';
import { decodeCheckpoint } from '../../../src/lib/state/read-checkpoint.ts';
import { openState } from '../../../src/lib/state/state.ts';
import { type BundledScript, bundleScript } from '../../support/bundle-script.ts';
import { generationOf, stateGeneration } from '../../support/state-generation.ts';

const SECONDS = Number(process.env.IPC_TEST_SECONDS ?? 30);

let script: BundledScript;
beforeAll(() => {
  script = bundleScript('write-state');
});
afterAll(() => script[Symbol.dispose]());

let dir: string;
let pin: string;
let directory: string;
beforeEach(() => {
  dir = fs.mkdtempSync(join(tmpdir(), 'ipc-kill-'));
  fs.mkdirSync(join(dir, 'pins'));
  pin = join(dir, 'pins/cilium_ipcache_v2');
  directory = join(dir, 'state');
});
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

/** Runs the writer of generation 3 under strace. One thread in the pool, so that the n-th call is the same in each run. */
function trace(...options: string[]) {
  return spawnSync(
    'strace',
    ['-f', '-o', join(dir, 'log'), ...options, process.execPath, script.path, directory, pin, '3'],
    {
      env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
      encoding: 'utf8',
    },
  );
}

async function makeGenerations(...numbers: number[]): Promise<void> {
  using state = openState({ directory, pin });
  for (const number of numbers) await state.write(stateGeneration(pin, number));
}

const generationIn = (name: string): number | undefined =>
  generationOf(decodeCheckpoint(fs.readFileSync(join(directory, name)), name));

describe('a state directory whose writer is killed', () => {
  it.each([
    ['rename', 3],
    ['fsync', 4],
    ['link', 1],
    ['write', 6],
  ])(
    'in any %s has the old checkpoint or the new one, whole, and the next run goes on',
    async (syscall, least) => {
      let kills = 0;
      const until = Date.now() + SECONDS * 1000;
      for (let n = 1; n <= least || Date.now() < until; n++) {
        fs.rmSync(directory, { recursive: true, force: true });
        await makeGenerations(1, 2);
        const { status, stdout, error } = trace('-e', `inject=${syscall}:signal=KILL:when=${n}`);
        expect(error).toBeUndefined();
        if (status === 0) {
          expect(stdout).toBe('done\n');
          break;
        }
        kills++;
        const current = generationIn('checkpoint.json');
        const previous = generationIn('checkpoint.json.previous');
        expect([
          [2, 1],
          [2, 2],
          [3, 2],
        ]).toContainEqual([current, previous]);
        for (const path of listBackups(directory)) expect(readBackup(path).entries).toHaveLength(1);

        await makeGenerations(4);
        expect(generationIn('checkpoint.json')).toBe(4);
        expect(generationIn('checkpoint.json.previous')).toBe(current);
        const left = fs.readdirSync(directory).filter((name) => name !== 'backups');
        expect(left.sort()).toEqual(['checkpoint.json', 'checkpoint.json.previous', 'lock']);
      }
      expect(kills).toBeGreaterThanOrEqual(least);
    },
    300_000,
  );

  it('is durable in the right order: content, then name, then directory', async () => {
    await makeGenerations(2);
    expect(trace('-y', '-e', 'trace=write,fsync,link,rename').status).toBe(0);
    const steps = fs
      .readFileSync(join(dir, 'log'), 'utf8')
      .split('\n')
      .filter((line) => line.includes(`${directory}/`) || line.includes(`${directory}>`))
      .map((line) =>
        line
          .replaceAll(/[0-9a-f]{12}\.tmp/g, 'TMP')
          .replaceAll(`${directory}/`, '')
          .replaceAll(directory, '.'),
      )
      .map((line) => /(\w+)\((?:\d+<)?"?([^">]*)(?:.*, "([^"]*)"\))?/.exec(line)?.slice(1, 4).filter(Boolean).join(' '))
      .filter((step) => !step?.startsWith('write lock'));
    const unique = steps.filter((step, index) => step !== steps[index - 1]);
    expect(unique).toEqual([
      'fsync .', // the new directory of the backups
      'write backups/.1970-01-01T00:00:03.000Z-gc.ndjson.TMP',
      'fsync backups/.1970-01-01T00:00:03.000Z-gc.ndjson.TMP',
      'rename backups/.1970-01-01T00:00:03.000Z-gc.ndjson.TMP backups/1970-01-01T00:00:03.000Z-gc.ndjson',
      'fsync backups',
      'write .checkpoint.json.TMP',
      'fsync .checkpoint.json.TMP',
      'link checkpoint.json checkpoint.json.previous.new',
      'rename checkpoint.json.previous.new checkpoint.json.previous',
      'rename .checkpoint.json.TMP checkpoint.json',
      'fsync .',
    ]);
  });
});
