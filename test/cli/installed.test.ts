/** The built program in the places and conditions in which users have it. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type InstalledProgram, installProgram } from '../support/installed-program.ts';

const KEY = '380000000000000108000000000000000000000000000000';
const DECODE = ['decode', '--key', KEY, '--json'];

let program: InstalledProgram;
let folder: string;
let expected: string;
beforeAll(() => {
  program = installProgram();
  folder = mkdtempSync(path.join(tmpdir(), 'ipc-places-'));
  expected = program.run(DECODE).stdout;
  expect(JSON.parse(expected)).toMatchObject([{ prefix: '8.0.0.0/24' }]);
});
afterAll(() => {
  program[Symbol.dispose]();
  rmSync(folder, { recursive: true });
});

/** A copy that may be damaged. */
function copy(name: string): string {
  const target = path.join(folder, name);
  cpSync(program.folder, target, { recursive: true });
  mkdirSync(path.join(target, 'dist'), { recursive: true });
  for (const file of readdirSync(path.join(target, 'dist'))) chmodSync(path.join(target, 'dist', file), 0o644);
  return target;
}

function cacheOf(root: string): string {
  const name = readdirSync(path.join(root, 'dist')).find((file) => file.endsWith('.cache'));
  return path.join(root, 'dist', name ?? 'no cache was built');
}

describe('the program runs', () => {
  it('through a symbolic link, from any folder', () => {
    const link = path.join(folder, 'ipc');
    symlinkSync(program.bin, link);
    expect(program.run(DECODE, { program: link, cwd: folder })).toMatchObject({ status: 0, stdout: expected });
    const second = path.join(folder, 'ipc2');
    symlinkSync('ipc', second);
    expect(program.run(DECODE, { program: second, cwd: '/' })).toMatchObject({ status: 0, stdout: expected });
  });

  it('from a folder that is gone', () => {
    const gone = path.join(folder, 'gone');
    mkdirSync(gone);
    expect(program.shell(`cd '${gone}' && rmdir '${gone}' && ipc ${DECODE.join(' ')}`)).toMatchObject({
      status: 0,
      stdout: expected,
    });
  });

  it.each([
    ['without a code cache', (root: string) => rmSync(cacheOf(root))],
    [
      'with a code cache that is cut off',
      (root: string) => writeFileSync(cacheOf(root), readFileSync(cacheOf(root)).subarray(0, 1000)),
    ],
    ['with an empty code cache', (root: string) => writeFileSync(cacheOf(root), '')],
    ['with a code cache of noise', (root: string) => writeFileSync(cacheOf(root), noisy(readFileSync(cacheOf(root))))],
    [
      'with the code cache of another build',
      (root: string) => writeFileSync(cacheOf(root), otherBuild(readFileSync(cacheOf(root)))),
    ],
  ])('%s', (name, damage) => {
    const root = copy(name);
    damage(root);
    const result = program.run(DECODE, { program: path.join(root, 'bin', 'run.cjs') });
    expect(result).toEqual({ status: 0, signal: null, stdout: expected, stderr: '' });
  });

  it.each([
    ['NODE_OPTIONS', '--max-old-space-size=64'],
    ['NODE_ENV', 'development'],
    ['NODE_ENV', 'test'],
    ['HOME', '/nonexistent'],
    ['XDG_CONFIG_HOME', '/dev/null'],
    ['LC_ALL', 'C'],
    ['FORCE_COLOR', '1'],
    ['IPC_CONTENT_TYPE', 'json'],
  ])('with %s=%s', (name, value) => {
    expect(program.run(DECODE, { env: { [name]: value } })).toEqual({
      status: 0,
      signal: null,
      stdout: expected,
      stderr: '',
    });
  });

  it('says what to do when it was not built', () => {
    const root = path.join(folder, 'unbuilt');
    mkdirSync(path.join(root, 'bin'), { recursive: true });
    copyFileSync(program.bin, path.join(root, 'bin', 'run.cjs'));
    const result = program.run(['--version'], { program: path.join(root, 'bin', 'run.cjs') });
    expect(result).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^Error: .*\n {2}hint: run "npm ci/),
    });
  });

  it('says so when its working directory was removed and a relative path needs it', () => {
    const gone = mkdtempSync(path.join(folder, 'gone-'));
    const script = 'rmdir "$0" && exec "$@"';
    const { status, stderr } = spawnSync('sh', ['-c', script, gone, program.bin, 'dump', '--map', 'x'], {
      cwd: gone,
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({
      status: 3,
      stderr: expect.stringMatching(/^Error: Cannot find the working directory: it was removed\n {2}hint: /),
    });
  });
});

describe('standard output', () => {
  // More than any pipe holds at once.
  const lines = Array.from({ length: 5_000 }, () => KEY).join('\n');

  it('op 16: closed by the reader ends the run quietly and at once with 0', () => {
    const script = `ipc decode --json | head -c 10; echo " \${PIPESTATUS[0]}"`;
    expect(program.shell(script, { stdin: lines })).toMatchObject({ stdout: '[\n{"prefix 0\n', stderr: '' });
  });

  it('gets everything though its reader is slow', () => {
    const { stdout } = program.shell('ipc decode --json | (sleep 0.3; cat)', { stdin: lines });
    expect(JSON.parse(stdout)).toHaveLength(5_000);
  });

  it('that is full is a failure that says so', () => {
    expect(program.shell('ipc --version > /dev/full')).toMatchObject({
      status: 1,
      stderr: 'Error: Cannot write standard output: no space left on the device\n',
    });
  });
});

describe('a signal', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s ends a waiting command with %d and without a word', async (name, status) => {
    const child = program.start(['decode', '--json']);
    let output = '';
    child.stdout.on('data', (text) => {
      output += text;
    });
    child.stderr.on('data', (text) => {
      output += text;
    });
    await readingStdin(child.stdin);
    child.kill(name);
    const [code, signal] = await once(child, 'close');
    expect({ code, signal, output }).toEqual({ code: status, signal: null, output: '' });
  });
});

/** Waits until the other side reads: more than a pipe holds is gone only when it does, and then it has its handlers. */
function readingStdin(stdin: Writable): Promise<void> {
  return new Promise((resolve, reject) => {
    stdin.write(' '.repeat(256 * 1024), (error) => (error ? reject(error) : resolve()));
  });
}

/** The same length and digest, other content. */
function noisy(cache: Buffer): Buffer {
  return Buffer.concat([cache.subarray(0, 16), Buffer.alloc(cache.length - 16, 0x5a)]);
}

function otherBuild(cache: Buffer): Buffer {
  return Buffer.concat([Buffer.from('0123456789abcdef'), cache.subarray(16)]);
}
