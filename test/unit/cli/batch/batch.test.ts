import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import Batch from '../../../../src/commands/batch.ts';
import Decode from '../../../../src/commands/decode.ts';
import Encode from '../../../../src/commands/encode.ts';
import { FindingError, NoEntryError } from '../../../../src/lib/errors.ts';
import { errorOf, type RunOptions, type RunResult, runCommand } from '../../../support/run-command.ts';
import Sample, { commandThat } from '../../../support/sample-command.ts';
import { expectFits } from '../../../support/schemas.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'ipc batch '));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(text: string): string {
  const name = path.join(folder, 'batch.txt');
  writeFileSync(name, text);
  return name;
}

const failing = (error: () => Error) => commandThat(async () => Promise.reject(error()));
const ran: string[] = [];
const commands = {
  sample: Sample,
  encode: Encode,
  decode: Decode,
  missing: failing(() => new NoEntryError('Cannot find it: it is not there', { hint: 'look' })),
  findings: failing(() => new FindingError('Cannot pass: 1 finding')),
  broken: failing(() => new TypeError('a bug')),
  mark: commandThat(async ({ warn }) => {
    ran.push('mark');
    warn('careful');
  }),
  large: commandThat(async ({ print }) => {
    const buffer = Buffer.alloc(200_000, '1');
    print('[\n');
    for (let i = 0; i < 5; i++) {
      print(i === 0 ? '' : ',\n');
      buffer[0] = 0x31 + i;
      print(buffer.toString());
    }
    print('\n]\n');
  }),
  listen: Sample,
};

const batch = (argv: readonly string[], options: RunOptions = {}): Promise<RunResult> =>
  runCommand(Batch, argv, { commands, ...options });

interface Line {
  readonly line: number;
  readonly command: string[];
  readonly result?: Record<string, unknown>;
  readonly exitCode: number;
  readonly error?: Record<string, unknown>;
}

function linesOf({ stdout }: RunResult): Line[] {
  const lines = stdout.split('\n');
  expect(lines.pop()).toBe('');
  return lines.map((text) => {
    const line: unknown = JSON.parse(text);
    expectFits('batch', line);
    return line as Line;
  });
}

describe('ipc batch', () => {
  it('prints what the commands print, as it is', async () => {
    const text = await batch([file('encode 10.0.0.0/24 --identity 5\n# nothing\nsample "a b" --json\n')]);
    const alone = await runCommand(Encode, ['10.0.0.0/24', '--identity', '5']);
    expect(text.stdout.startsWith(alone.stdout)).toBe(true);
    expect(JSON.parse(text.stdout.slice(alone.stdout.length))).toMatchObject({ kind: 'sample', target: 'a b' });
    expect([text.exitCode, text.stderr]).toEqual([0, '']);
  });

  it('prints one JSON object a line under --json and as ndjson, with the result embedded', async () => {
    const commandFile = file(
      'encode 10.0.0.0/24 --identity 5\n\ndecode 38000000 00000001 0a000000 00000000 00000000 00000000\n',
    );
    for (const argv of [['--json'], ['-o', 'ndjson']]) {
      const result = await batch([commandFile, ...argv]);
      expect(result.stderr).toBe('');
      const alone = JSON.parse((await runCommand(Encode, ['10.0.0.0/24', '--identity', '5', '--json'])).stdout);
      expect(linesOf(result)).toEqual([
        {
          time: '2026-01-02T03:04:05.006Z',
          kind: 'batch',
          line: 1,
          command: ['encode', '10.0.0.0/24', '--identity', '5'],
          result: alone,
          exitCode: 0,
        },
        expect.objectContaining({ line: 3, result: [expect.objectContaining({ prefix: '10.0.0.0/24' })], exitCode: 0 }),
      ]);
    }
  });

  it('stops at the first failure, with its status, line and hint', async () => {
    const commandFile = file('sample\nmissing\nsample\n');
    const text = await batch([commandFile]);
    expect(text.exitCode).toBe(12);
    expect(text.stderr).toBe(
      `Error: Cannot run ${commandFile}, line 2: Cannot find it: it is not there\n  hint: look\n`,
    );
    expect(text.stdout.match(/stateDir/g)).toHaveLength(1);
    const json = await batch([commandFile, '--json']);
    expect(linesOf(json).map(({ exitCode }) => exitCode)).toEqual([0, 12]);
    expect(linesOf(json)[1]?.error).toEqual({
      code: 'NO_ENTRY',
      message: 'Cannot find it: it is not there',
      hint: 'look',
      exitCode: 12,
    });
    expect(errorOf(json)).toMatchObject({ code: 'NO_ENTRY', exitCode: 12, batchFile: commandFile, batchLine: 2 });
  });

  it('goes on with --keep-going, and the worst status counts', async () => {
    const result = await batch([file('findings\nmissing\nsample --nope\n"\nsample\n'), '--keep-going', '--json']);
    expect(linesOf(result).map(({ line, exitCode }) => [line, exitCode])).toEqual([
      [1, 10],
      [2, 12],
      [3, 2],
      [4, 9],
      [5, 0],
    ]);
    expect(errorOf(result)).toMatchObject({ code: 'BATCH_FAILED', exitCode: 2, failed: 4, commands: 5 });
    const told = result.stderr.trimEnd().split('\n');
    expect(told.slice(0, -1).map((line) => JSON.parse(line).exitCode)).toEqual([10, 12, 2, 9]);
    for (const line of told.slice(0, -1)) expectFits('log-line', JSON.parse(line));
  });

  it('tells a bug as a bug', async () => {
    const result = await batch([file('broken\nsample\n'), '--json']);
    expect(errorOf(result)).toMatchObject({ code: 'BUG', exitCode: 70, stack: expect.stringContaining('TypeError') });
    expect(linesOf(result)).toHaveLength(1);
  });

  it.each([
    ['get "x\n', 9, 'BATCH_LINE', { line: 2 }],
    ['sampel\n', 2, 'UNKNOWN_COMMAND', { batchLine: 2 }],
    ['listen\n', 2, 'NOT_IN_A_BATCH', { batchLine: 2 }],
    ['-j batch -\n', 2, 'NOT_IN_A_BATCH', { batchLine: 2 }],
    ['sample --help\n', 2, 'NOT_IN_A_BATCH', { batchLine: 2 }],
    ['version\n', 2, 'NOT_IN_A_BATCH', { batchLine: 2 }],
  ])('runs nothing of a file with the line %j', async (line, exitCode, code, operands) => {
    ran.length = 0;
    const result = await batch([file(`mark\n${line}`), '--json']);
    expect([result.exitCode, result.stdout, ran]).toEqual([exitCode, '', []]);
    expect(errorOf(result)).toMatchObject({ code, exitCode, ...operands });
    const piped = await batch(['-', '--json'], { stdin: `mark\n${line}` });
    expect([piped.exitCode, ran, linesOf(piped).length]).toEqual([exitCode, ['mark'], 2]);
  });

  it('answers a pipe before the next line comes', async () => {
    ran.length = 0;
    const stdinStream = new PassThrough();
    const running = batch(['-'], { stdinStream });
    stdinStream.write('mark\n');
    await vi.waitFor(() => expect(ran).toHaveLength(1), { timeout: 20_000 });
    stdinStream.end('mark\n');
    expect((await running).exitCode).toBe(0);
    expect(ran).toHaveLength(2);
  });

  it('gives its flags to every line that does not set them', async () => {
    const commandFile = file('sample\nsample --map /other --state-dir=/own\n-m /front sample\n');
    const maps = linesOf(await batch([commandFile, '--json', '-m', '/a b', '--state-dir', '/s'])).map(({ result }) => [
      result?.map,
      result?.stateDir,
    ]);
    expect(maps).toEqual([
      ['/a b', '/s'],
      ['/other', '/own'],
      ['/front', '/s'],
    ]);
  });

  it('leaves variables and the config file to each command', async () => {
    const config = path.join(folder, 'config.yaml');
    writeFileSync(config, 'map: /c\nsample:\n  map: /own-section\n');
    const [line] = linesOf(await batch([file('sample\n'), '--json', '--config', config], { env: { IPC_LIMIT: '3' } }));
    expect(line?.result).toMatchObject({ map: '/own-section', limit: 3 });
  });

  it('is quiet or loud as it was told, unless a line says otherwise', async () => {
    expect((await batch([file('mark\n')])).stderr).toBe('Warning: careful\n');
    expect((await batch([file('mark\n'), '-q'])).stderr).toBe('');
    expect((await batch([file('mark -v\nmark\n'), '-q'])).stderr).toBe('Warning: careful\n');
  });

  it('refuses another format under --json, unless the result goes to a file of its own', async () => {
    const refused = await batch([file('encode 10.0.0.0/8 --identity 5 -o table\n'), '--json']);
    expect([refused.exitCode, errorOf(refused).message]).toEqual([2, expect.stringContaining('and as json')]);
    const own = path.join(folder, 'own.txt');
    const [line] = linesOf(await batch([file(`encode 10.0.0.0/8 --identity 5 -o table --file "${own}"\n`), '--json']));
    expect(line).not.toHaveProperty('result');
    expect(readFileSync(own, 'utf8')).toContain('10.0.0.0/8');
  });

  it('passes a large result on in pieces whose buffer is used again', async () => {
    const [line] = linesOf(await batch([file('large\n'), '--json']));
    const numbers = JSON.stringify(line?.result);
    expect(numbers.startsWith('[')).toBe(true);
    expect(line?.result).toHaveLength(5);
  });

  it('gives standard input to a command of a file, but not what it is read from itself', async () => {
    const ofFile = await batch([file('decode -\n'), '--json'], {
      stdin: '38000000000000010a00000000000000000000000000',
    });
    expect(ofFile.exitCode).toBe(9);
    const taken = await batch(['-', '--json'], { stdin: 'decode -\n' });
    expect(errorOf(taken)).toMatchObject({ code: 'STDIN_TAKEN', exitCode: 2 });
  });

  it('completes the file of --file also when a command fails, and leaves none after a signal', async () => {
    const out = path.join(folder, 'out.ndjson');
    await batch([file('sample\nmissing\n'), '--json', '--file', out]);
    expect(readFileSync(out, 'utf8').trimEnd().split('\n')).toHaveLength(2);
    rmSync(out);
    let deliver: ((signal: NodeJS.Signals) => void) | undefined;
    const interrupted = await batch([file('sample\nstop\nsample\n'), '--json', '--file', out], {
      commands: {
        ...commands,
        stop: commandThat(async ({ signal }) => {
          expect(signal().aborted).toBe(false);
          deliver?.('SIGINT');
        }),
      },
      onStart: (function_) => {
        deliver = function_;
      },
    });
    expect([interrupted.exitCode, interrupted.stderr]).toEqual([130, '']);
    expect(readdirSync(folder).filter((name) => name.includes('out'))).toEqual([]);
  });

  it('ends quietly when its reader goes away', async () => {
    const result = await batch([file('sample\nsample\nsample\n'), '--json'], { stdoutCapacity: 300 });
    expect([result.exitCode, result.stderr]).toEqual([0, '']);
  });

  it.each([
    ['/nonexistent', 3],
    ['/', 2],
  ])('exits for the file %s with %i', async (name, exitCode) => {
    expect((await batch([name])).exitCode).toBe(exitCode);
  });
});
