import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedFlags } from '../../../src/lib/cli/shared-flags.ts';
import { FindingError, LockedError, MalformedError, NotFoundError } from '../../../src/lib/errors.ts';
import { errorOf, runCommand } from '../../support/run-command.ts';
import Sample, { commandThat } from '../../support/sample-command.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'ipc base '));
});
afterAll(() => rmSync(folder, { recursive: true }));

function config(text: string): string {
  const file = path.join(folder, 'config.yaml');
  writeFileSync(file, text);
  return file;
}

async function sample(argv: readonly string[], options = {}): Promise<Record<string, unknown>> {
  const result = await runCommand(Sample, ['--json', ...argv], options);
  expect(result).toMatchObject({ exitCode: 0, stderr: '' });
  return JSON.parse(result.stdout) as Record<string, unknown>;
}

class PrintsCsv extends Sample {
  static override baseFlags = sharedFlags({ outputs: ['table', 'csv'] }) as unknown as typeof Sample.baseFlags;
}

describe('value of a flag', () => {
  it('is the default when nothing else is there', async () => {
    expect(await sample([])).toMatchObject({ stateDir: '/var/lib/ipc', sources: { json: { from: 'flag' } } });
  });

  it('comes from the flag before the variable, the config file and the default', async () => {
    const file = config('state-dir: /c\n');
    const env = { IPC_STATE_DIR: '/e' };
    expect(await sample(['--state-dir', '/f'], { env, systemConfig: file })).toMatchObject({
      stateDir: '/f',
      sources: { 'state-dir': { from: 'flag' } },
    });
    expect(await sample([], { env, systemConfig: file })).toMatchObject({
      stateDir: '/e',
      sources: { 'state-dir': { from: 'environment', variable: 'IPC_STATE_DIR' } },
    });
    expect(await sample([], { systemConfig: file })).toMatchObject({
      stateDir: '/c',
      sources: { 'state-dir': { from: 'config', file, line: 1 } },
    });
  });

  it('ignores an empty variable', async () => {
    expect(await sample([], { env: { IPC_STATE_DIR: '' } })).toMatchObject({ stateDir: '/var/lib/ipc' });
  });

  it('is read by the same reader from everywhere', async () => {
    expect(await sample(['--wait', '2m'])).toMatchObject({ waitMs: 120_000 });
    expect(await sample([], { env: { IPC_WAIT: '2m' } })).toMatchObject({ waitMs: 120_000 });
    expect(await sample([], { systemConfig: config('wait: 2m') })).toMatchObject({ waitMs: 120_000 });
    expect(await sample([], { systemConfig: config('wait: 120') })).toMatchObject({ waitMs: 120_000 });
  });

  it('of a command in the config file wins over the common one', async () => {
    const systemConfig = config('# both\nlimit: 1\nsample:\n  limit: 2\n');
    expect(await sample([], { systemConfig })).toMatchObject({ limit: 2, sources: { limit: { line: 4 } } });
  });

  it('that can be repeated takes comma lists and leaves the next word alone', async () => {
    expect(await sample(['--within', '10.0.0.0/8,2001:db8::/32', '--within', '192.0.2.1', 'word'])).toMatchObject({
      within: ['10.0.0.0/8', '2001:db8::/32', '192.0.2.1/32'],
      target: 'word',
    });
    expect(await sample([], { systemConfig: config('within: [10.0.0.0/8, 192.0.2.1]') })).toMatchObject({
      within: ['10.0.0.0/8', '192.0.2.1/32'],
    });
    expect(await sample([], { systemConfig: config('within: 10.0.0.0/8,192.0.2.1') })).toMatchObject({
      within: ['10.0.0.0/8', '192.0.2.1/32'],
    });
  });

  it('that can be repeated has no variable', async () => {
    expect(await sample([], { env: { IPC_WITHIN: '10.0.0.0/8' } })).not.toHaveProperty('within');
  });

  it('that is yes or no has a variable only where it says so', async () => {
    const env = { IPC_COUNT: 'yes', IPC_FORCE: 'yes' };
    expect(await sample([], { env })).toMatchObject({ count: true, force: false });
    expect(await sample([], { env: { IPC_COUNT: '0' } })).toMatchObject({ count: false });
  });

  it('that was not typed does not exclude a flag that was', async () => {
    expect(await sample(['--limit', '1'], { env: { IPC_SCOPE: 'local' } })).toMatchObject({ scope: 'local', limit: 1 });
  });

  it('for all commands that this one does not have, but another, leaves it the next value or the default', async () => {
    const run = (argv: readonly string[], options: object) =>
      runCommand(Sample, argv, { commands: { other: PrintsCsv }, ...options });
    const table = expect.stringContaining('output: "table"');
    for (const options of [{ env: { IPC_OUTPUT: 'csv' } }, { systemConfig: config('output: csv') }]) {
      expect(await run([], options)).toMatchObject({ exitCode: 0, stdout: table, stderr: '' });
      expect(await run(['-j'], options)).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^\{/) });
    }
    const own = config('output: csv\nsample:\n  output: ndjson\n');
    const { stdout } = await run([], { env: { IPC_OUTPUT: 'csv' }, systemConfig: own });
    expect(JSON.parse(stdout)).toMatchObject({ output: 'ndjson', sources: { output: { from: 'config', line: 3 } } });
  });

  it('that no command has, or that is meant for this command, is an error', async () => {
    const run = (argv: readonly string[], options: object) =>
      runCommand(Sample, argv, { commands: { other: PrintsCsv }, ...options });
    expect(await run([], { env: { IPC_OUTPUT: 'xml' } })).toMatchObject({ exitCode: 2 });
    expect(await run([], { systemConfig: config('output: xml') })).toMatchObject({ exitCode: 2 });
    expect(await run([], { systemConfig: config('sample:\n  output: csv\n') })).toMatchObject({ exitCode: 2 });
    expect(await run(['-o', 'csv'], {})).toMatchObject({ exitCode: 2 });
  });

  it('may choose JSON from a variable or the config file', async () => {
    for (const options of [{ env: { IPC_OUTPUT: 'json' } }, { systemConfig: config('output: json') }]) {
      const { stdout } = await runCommand(Sample, [], options);
      expect(JSON.parse(stdout)).toMatchObject({ output: 'json' });
    }
  });
});

describe('usage errors', () => {
  it.each([
    [['--limt', '1'], 'Cannot use --limt: ipc sample has no such flag', /did you mean --limit\?/],
    [['--limt=1'], 'Cannot use --limt: ipc sample has no such flag', /did you mean --limit\?/],
    [['-x'], 'Cannot use -x: ipc sample has no such flag', /--help/],
    [['--within', '10.0.0.0/33', '--nope'], 'Cannot use --nope: ipc sample has no such flag', /--help/],
    [['--scope', 'locl'], 'Cannot use --scope locl: not one of local, global', /did you mean local\?/],
    [['--limit', 'x'], 'Cannot use --limit: expected an integer but received: x', /--help/],
    [['--limit', '0'], /^Cannot use --limit: expected an integer greater than or equal to 1/, /--help/],
    [['--limit'], 'Cannot use --limit: it needs a value', /--help/],
    [['--map', '--count'], 'Cannot use --map: it needs a value', /--help/],
    [['--wait', '1', '--wait', '2'], 'Cannot use --wait: it is given twice', /--help/],
    [['--wait', 'soon'], 'Cannot read duration "soon": not a duration', /30s/],
    [['--within', '10.0.0.0/33'], /^Cannot read prefix "10\.0\.0\.0\/33"/, undefined],
    [['--limit', '1', '--scope', 'local'], 'Cannot use --scope with --limit: one excludes the other', /--help/],
    [['a', 'b'], 'Cannot use "b": ipc sample takes 1 argument', /--help/],
    [['-o', 'xml'], 'Cannot use --output xml: not one of table, json, ndjson', /one of table/],
    [['-o', 'csv'], 'Cannot use --output csv: not one of table, json, ndjson', /one of table/],
    [['--config', '/nonexistent/c.yaml'], 'Cannot read config file /nonexistent/c.yaml: no such file', /--config/],
  ])('%j', async (argv, message, hint) => {
    const text = await runCommand(Sample, argv);
    expect(text).toMatchObject({ exitCode: 2, stdout: '' });
    const [first, second] = text.stderr.split('\n');
    if (typeof message === 'string') expect(first).toBe(`Error: ${message}`);
    else expect(first?.replace('Error: ', '')).toMatch(message);
    if (hint !== undefined) expect(second).toMatch(hint);

    const json = await runCommand(Sample, [...argv, '--json']);
    expect(json).toMatchObject({ exitCode: 2, stdout: '' });
    expect(errorOf(json)).toMatchObject({ exitCode: 2, code: expect.stringMatching(/^[A-Z_]+$/) });
    expect(`Error: ${errorOf(json).message}`).toBe(first);
  });

  it('name the variable that holds a bad value', async () => {
    const result = await runCommand(Sample, ['-j'], { env: { IPC_LIMIT: 'x' } });
    expect(errorOf(result)).toMatchObject({ exitCode: 2, message: expect.stringMatching(/^Cannot use IPC_LIMIT=x: /) });
    const scope = await runCommand(Sample, ['-j'], { env: { IPC_SCOPE: 'x' } });
    expect(errorOf(scope).message).toBe('Cannot use IPC_SCOPE=x: not one of local, global');
    const count = await runCommand(Sample, ['-j'], { env: { IPC_COUNT: 'maybe' } });
    expect(errorOf(count).message).toBe('Cannot use IPC_COUNT=maybe: neither true nor false');
  });

  it('are JSON even when only the variable asks for JSON and parsing fails', async () => {
    const result = await runCommand(Sample, ['--nope'], { env: { IPC_OUTPUT: 'json' } });
    expect(errorOf(result)).toMatchObject({ exitCode: 2, code: 'UNKNOWN_FLAG' });
  });

  it('--json with another format', async () => {
    const result = await runCommand(Sample, ['-j', '-o', 'table']);
    expect(errorOf(result)).toMatchObject({ exitCode: 2, message: expect.stringContaining('table and as json') });
    expect(await runCommand(Sample, ['-j', '-o', 'json'])).toMatchObject({ exitCode: 0 });
  });

  it('a flag behind -- is a word', async () => {
    expect(await sample(['--', '--nope'])).toMatchObject({ target: '--nope' });
  });
});

// Each line has nine times as many values as the one before.
const ALIASES = [...'abcdefgh']
  .map((name, i, all) => `${name}: &${name} [${Array(9).fill(i === 0 ? 'x' : `*${all[i - 1]}`)}]\n`)
  .join('');

describe('config file', () => {
  it.each([
    ['limit: 1\nlimt: 2\n', 2, 'limt', /line 2/, /did you mean limit\?/],
    ['sample:\n  limit: 1\n  forse: true\n', 2, 'sample.forse', /line 3/, undefined],
    ['smaple:\n  limit: 1\n', 2, 'smaple', /line 1/, /did you mean sample\?/],
    ['config: /x\n', 2, 'config', /line 1/, undefined],
    ['file: /x\n', 2, 'file', /line 1/, undefined],
    ['force: true\n', 2, 'force', /line 1/, undefined],
    ['limit: [1, 2]\n', 2, 'limit', /line 1: not a single value/, undefined],
    ['\nlimit: none\n', 2, undefined, /^Cannot use limit in .*, line 2=none: /, undefined],
    ['within:\n  - 10.0.0.0/33\n', 2, undefined, /line 1=10\.0\.0\.0\/33: /, undefined],
    ['limit: 1\nlimit: 2\n', 9, undefined, /line 2: .*unique/, /YAML/],
    ['limit: "1\n', 9, undefined, /line 2/, /YAML/],
    ['- a\n', 9, undefined, /line 1/, /YAML/],
    ['just text\n', 9, undefined, /line 1/, /YAML/],
    ['limit: 1\nmap: *nowhere\n', 9, undefined, /line 2: .*nowhere/, /YAML/],
    [`${ALIASES}within: *h\n`, 9, undefined, /line 4: .*alias/, /YAML/],
    ['sample: 1\n', 2, 'sample', /line 1: it is a command/, /below it/],
    ['sample:\n  - limit\n', 2, 'sample', /line 1: it is a command/, /below it/],
  ])('%j is refused with %d', async (text, exitCode, field, message, hint) => {
    const result = await runCommand(Sample, ['-j'], { systemConfig: config(text) });
    expect(result).toMatchObject({ exitCode, stdout: '' });
    const error = errorOf(result);
    expect(error.message).toMatch(message);
    if (hint !== undefined) expect(error.hint).toMatch(hint);
    if (field !== undefined) expect(error.field).toBe(field);
  });

  it.each(['', '\n', '# nothing\n', '---\n', 'limit:\n', 'sample:\n', '{}\n'])('%j changes nothing', async (text) => {
    expect(await sample([], { systemConfig: config(text) })).toMatchObject({ sources: { json: { from: 'flag' } } });
  });

  it('is the one that IPC_CONFIG names, or better the flag', async () => {
    const file = config('limit: 7');
    expect(await sample(['--config', file], { env: { IPC_CONFIG: '/nonexistent' } })).toMatchObject({ limit: 7 });
    expect(await sample([], { env: { IPC_CONFIG: file } })).toMatchObject({ limit: 7 });
    expect(errorOf(await runCommand(Sample, ['-j'], { env: { IPC_CONFIG: '/nonexistent' } }))).toMatchObject({
      exitCode: 2,
    });
  });
});

describe('failures of a command', () => {
  it('have message and hint as text, and all operands as the last line of JSON', async () => {
    const failing = commandThat(async ({ warn }) => {
      warn('first\u001b[31m');
      throw new NotFoundError('Cannot open map /x\u001b]0;t\u0007: no such pin', {
        code: 'MAP_NOT_FOUND',
        hint: 'ipc doctor lists the maps',
        operands: { path: '/x', errno: 'ENOENT' },
      });
    });
    expect(await runCommand(failing, [])).toEqual({
      exitCode: 3,
      stdout: '',
      stderr:
        'Warning: first\\x1b[31m\nError: Cannot open map /x\\x1b]0;t\\x07: no such pin\n  hint: ipc doctor lists the maps\n',
    });
    const json = await runCommand(failing, ['--json']);
    expect(json.stderr.split('\n')[0]).toBe('{"level":"warn","message":"first\\u001b[31m"}');
    expect(json.stderr.split('\n')[1]).toBe(
      '{"error":{"code":"MAP_NOT_FOUND","message":"Cannot open map /x\\u001b]0;t\\u0007: no such pin","hint":"ipc doctor lists the maps","exitCode":3,"path":"/x","errno":"ENOENT"}}',
    );
  });

  it('several at once end with the status that the contract puts first, and it comes last', async () => {
    const failing = commandThat(async () => {
      throw new AggregateError([
        new FindingError('Cannot a'),
        new MalformedError('Cannot b'),
        new LockedError('Cannot c'),
      ]);
    });
    const text = await runCommand(failing, []);
    expect(text).toMatchObject({ exitCode: 9, stderr: 'Error: Cannot a\nError: Cannot c\nError: Cannot b\n' });
    const json = await runCommand(failing, ['-j']);
    expect(json.stderr.trimEnd().split('\n')).toHaveLength(3);
    expect(errorOf(json)).toMatchObject({ exitCode: 9, message: 'Cannot b' });
  });

  it('of endless text say so much of it as somebody reads', async () => {
    const result = await runCommand(Sample, ['-j', '--within', '9'.repeat(100_000)], {});
    expect(result.exitCode).toBe(2);
    const { message } = errorOf(result) as { message: string };
    expect(message.length).toBeLessThan(5_000);
    expect(message).toMatch(/^Cannot .*9 … \(\d+ characters left out\) … .*octets/);
  });

  it('that nobody expected are bugs: 70 and a stack', async () => {
    const failing = commandThat(async () => {
      throw new TypeError('x is not a function');
    });
    const text = await runCommand(failing, []);
    expect(text.exitCode).toBe(70);
    expect(text.stderr).toMatch(/^Error: x is not a function\n {2}hint: .*bug.*\n {4}at .*base-command\.test\.ts/);
    expect(errorOf(await runCommand(failing, ['-j']))).toMatchObject({
      code: 'BUG',
      exitCode: 70,
      stack: expect.any(String),
    });
  });

  it('show no stack unless -v asks for it', async () => {
    const failing = commandThat(async () => {
      throw new NotFoundError('Cannot x');
    });
    expect((await runCommand(failing, [])).stderr).toBe('Error: Cannot x\n');
    expect((await runCommand(failing, ['-v'])).stderr).toMatch(/^Error: Cannot x\n {4}at /);
    expect(errorOf(await runCommand(failing, ['-vj']))).toHaveProperty('stack');
  });

  it('that are no errors are bugs too', async () => {
    const failing = commandThat(async () => {
      throw 'text';
    });
    expect(await runCommand(failing, [])).toMatchObject({ exitCode: 70 });
  });
});

describe('standard error', () => {
  const noisy = commandThat(async ({ warn }) => warn('careful'));

  it('has warnings unless -q', async () => {
    expect((await runCommand(noisy, [])).stderr).toBe('Warning: careful\n');
    expect((await runCommand(noisy, ['-q'])).stderr).toBe('');
    expect((await runCommand(noisy, ['--log-level', 'error'])).stderr).toBe('');
  });

  it('is NDJSON under --json and --log-format json', async () => {
    const line = '{"level":"warn","message":"careful"}\n';
    expect((await runCommand(noisy, ['-j'])).stderr).toBe(line);
    expect((await runCommand(noisy, ['--log-format', 'json'])).stderr).toBe(line);
    expect((await runCommand(noisy, ['-j', '--log-format', 'text'])).stderr).toBe(line);
  });
});

describe('--file', () => {
  it('gets the result, standard output nothing', async () => {
    const file = path.join(folder, 'out.json');
    expect(await runCommand(Sample, ['-j', '--file', file])).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ kind: 'sample' });
  });

  it('keeps the old file and leaves nothing else when the command fails', async () => {
    const own = mkdtempSync(path.join(folder, 'f'));
    const file = path.join(own, 'out');
    writeFileSync(file, 'old');
    const failing = commandThat(async ({ print }) => {
      print('half');
      throw new NotFoundError('Cannot x');
    });
    expect(await runCommand(failing, ['--file', file])).toMatchObject({ exitCode: 3 });
    expect(readdirSync(own)).toEqual(['out']);
    expect(readFileSync(file, 'utf8')).toBe('old');
  });

  it('- is standard output', async () => {
    expect((await runCommand(Sample, ['-j', '--file', '-'])).stdout).toContain('"kind":"sample"');
  });

  it('in a folder that is not there is an error of its own', async () => {
    const result = await runCommand(Sample, ['-j', '--file', '/nonexistent/out']);
    expect(errorOf(result)).toMatchObject({ message: expect.stringContaining('/nonexistent/out') });
    expect(result.stdout).toBe('');
  });
});

describe('signals', () => {
  it('abort the signal of the command and decide the exit status', async () => {
    let deliver: (name: NodeJS.Signals) => void = () => {};
    const waiting = commandThat(async ({ signal, print }) => {
      const stop = signal();
      setTimeout(() => deliver('SIGTERM'), 1);
      await new Promise((_, reject) => {
        stop.addEventListener('abort', () => reject(stop.reason));
      });
      print('not reached');
    });
    const result = await runCommand(waiting, [], {
      onStart: (send: typeof deliver) => {
        deliver = send;
      },
    });
    expect(result).toEqual({ exitCode: 143, stdout: '', stderr: '' });
  });

  it('end a command at once that does not watch them, and any command the second time', async () => {
    let deliver: (name: NodeJS.Signals) => void = () => {};
    const onStart = (send: typeof deliver): void => {
      deliver = send;
    };
    const deaf = commandThat(async () => deliver('SIGINT'));
    expect(await runCommand(deaf, [], { onStart })).toMatchObject({ exitCode: 130 });
    const stubborn = commandThat(async ({ signal }) => {
      signal();
      deliver('SIGINT');
      deliver('SIGTERM');
    });
    expect(await runCommand(stubborn, [], { onStart })).toMatchObject({ exitCode: 143 });
  });

  it('leave 0 to a command that ends well on them', async () => {
    let deliver: (name: NodeJS.Signals) => void = () => {};
    const serving = commandThat(
      async ({ signal }) => {
        signal();
        deliver('SIGTERM');
      },
      { endsOnSignal: true },
    );
    const onStart = (send: typeof deliver): void => {
      deliver = send;
    };
    expect(await runCommand(serving, [], { onStart })).toMatchObject({ exitCode: 0 });
  });
});

it('op 16: a reader that went away ends the run quietly with 0', async () => {
  let after = false;
  const endless = commandThat(async ({ print }) => {
    for (let i = 0; i < 100; i++) print('0123456789');
    after = true;
  });
  const result = await runCommand(endless, ['-j'], { stdoutCapacity: 25 });
  expect(result).toEqual({ exitCode: 0, stdout: '01234567890123456789', stderr: '' });
  expect(after).toBe(false);
});
