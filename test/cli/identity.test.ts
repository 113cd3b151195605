import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import Identity from '../../src/commands/identity.ts';
import { errorOf, type RunResult, runCommand } from '../support/run-command.ts';
import { type EntryValue, snapshotText, sortEntries } from '../support/snapshot-lines.ts';

const fits = new Ajv2020({ allowUnionTypes: true }).compile(JSON.parse(readFileSync('schemas/identity.json', 'utf8')));

let directory = '';
let state = '';
let snapshot = '';

const entry = (prefix: string, identity: number): EntryValue => ({
  prefix,
  family: prefix.includes(':') ? 'ipv6' : 'ipv4',
  identity,
  encryptKey: 0,
  flags: 0,
});

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'ipc-identity-'));
  state = join(directory, 'local_allocator_state.json');
  snapshot = join(directory, 'node.ndjson');
  writeFileSync(
    state,
    '[{"id":16777217,"labels":{"10.0.0.0/8":{"key":"10.0.0.0/8","source":"cidr"},"world-ipv4":{"key":"world-ipv4","source":"reserved"}}},' +
      '{"id":16777218,"labels":{"evil":{"key":"evil","value":"\\u001b[2J\\u202ex","source":"fqdn"}}}]\n',
  );
  const entries = [
    entry('10.0.0.0/8', 16777217),
    entry('10.1.0.0/16', 16777217),
    entry('0.0.0.0/0', 9),
    entry('fd00::1/128', 33156317),
    entry('10.9.9.9/32', 16379101),
  ];
  const identities = [{ identity: 33156317, labels: ['cidr:fd00--1/128', 'reserved:world-ipv6'] }];
  writeFileSync(snapshot, snapshotText({ identities, entries: sortEntries(entries) }));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function run(...argv: string[]): Promise<RunResult> {
  return runCommand(Identity, ['-m', snapshot, '--allocator-state', state, '--state-dir', directory, ...argv]);
}

async function rows(...argv: string[]): Promise<Record<string, unknown>[]> {
  const { exitCode, stdout, stderr } = await run('--json', ...argv);
  expect([exitCode, stderr]).toEqual([0, '']);
  const list: Record<string, unknown>[] = JSON.parse(stdout);
  expect(fits(list), JSON.stringify(fits.errors)).toBe(true);
  return list;
}

describe('ipc identity', () => {
  test('shows a number with labels, prefixes and where they came from', async () => {
    expect(await rows('16777217')).toEqual([
      {
        identity: 16777217,
        scope: 'local',
        index: 1,
        labels: ['cidr:10.0.0.0/8', 'reserved:world-ipv4'],
        labelsFrom: 'allocator',
        entries: 2,
        prefixes: ['10.0.0.0/8', '10.1.0.0/16'],
      },
    ]);
  });

  test('finds the number of a label, also one that only the snapshot knows', async () => {
    expect(await rows('cidr:fd00::/8')).toMatchObject([{ identity: 33156317, labelsFrom: 'snapshot', entries: 1 }]);
    expect(await rows('world-ipv4')).toMatchObject([{ identity: 9, name: 'world-ipv4', entries: 1 }]);
  });

  test('op 14 16379101 is global of cluster 249, 33156317 local with index 16379101', async () => {
    expect(await rows('16379101', '33156317')).toMatchObject([
      { identity: 16379101, scope: 'global', clusterId: 249 },
      { identity: 33156317, scope: 'local', index: 16379101 },
    ]);
    const { stdout } = await run('16379101', '33156317');
    expect(stdout).toContain('global, cluster 249');
    expect(stdout).toContain('local 16379101');
  });

  test('lists everything with counts, fixed numbers with their meaning', async () => {
    const list = await rows();
    expect(list.filter(({ entries }) => entries !== 0).map(({ identity, entries }) => [identity, entries])).toEqual([
      [9, 1],
      [16379101, 1],
      [16777217, 2],
      [33156317, 1],
    ]);
    expect(list.find(({ identity }) => identity === 8)).toMatchObject({ name: 'ingress', meaning: expect.any(String) });
  });

  test('--unused lists what the checkpoints have and the map has not', async () => {
    expect((await rows('--unused')).map(({ identity }) => identity)).toEqual([16777218]);
  });

  test('escapes labels for the terminal, and for JSON without changing them', async () => {
    const { stdout } = await run('16777218');
    expect(stdout).toContain('fqdn:evil=\\x1b[2J\\u{202e}x');
    expect(stdout).not.toContain('\u001b[2J');
    expect(await rows('16777218')).toMatchObject([{ labels: ['fqdn:evil=\u001b[2J\u202ex'] }]);
  });

  test('-o csv and -o ndjson hold the same rows', async () => {
    const csv = await run('-o', 'csv', '16777217');
    expect(csv.stdout.split('\n')[1]).toContain('16777217');
    expect(csv.stdout).not.toContain("'-");
    const ndjson = await run('-o', 'ndjson', '16777217');
    expect(JSON.parse(ndjson.stdout)).toMatchObject({ identity: 16777217 });
  });
});

describe('ipc identity of a number in many entries', () => {
  test('shortens the table, and neither CSV nor JSON', async () => {
    const prefixes = Array.from({ length: 20 }, (_, i) => `10.0.0.${i}/32`);
    writeFileSync(snapshot, snapshotText({ entries: prefixes.map((prefix) => entry(prefix, 300)) }));
    expect((await run('300')).stdout).toContain('10.0.0.7/32 and 12 more');
    expect((await run('300', '-o', 'csv')).stdout).toContain(prefixes.join(' '));
    expect(await rows('300')).toMatchObject([{ entries: 20, prefixes }]);
  });
});

describe('ipc identity refuses', () => {
  test.each([
    ['a number beyond 32 bits', ['4294967296'], 2, 'BAD_IDENTITY'],
    ['a label without key', ['k8s:'], 2, 'BAD_LABEL'],
    ['one key from two sources', ['k8s:app=x', 'container:app=x'], 2, 'BAD_LABEL'],
    ['a name that nobody has', ['wrold'], 2, 'BAD_IDENTITY'],
    ['orphans of a snapshot', ['--orphans'], 2, 'NEEDS_MAP'],
    ['orphans and unused at once', ['--orphans', '--unused'], 2, 'USAGE'],
    ['a number that is nowhere', ['16777999'], 12, 'NO_IDENTITY'],
    ['a label that is nowhere', ['app=x'], 12, 'NO_IDENTITY'],
  ])('%s', async (_, words, exitCode, code) => {
    const result = await run('--json', ...words);
    expect(result.exitCode).toBe(exitCode);
    expect(errorOf(result)).toMatchObject({ code, exitCode });
    expect(JSON.parse(result.stdout || '[]')).toEqual([]);
  });

  test('nothing of what it found because something else is missing', async () => {
    const result = await run('--json', '16777217', '16777999');
    expect(result.exitCode).toBe(12);
    expect(JSON.parse(result.stdout)).toMatchObject([{ identity: 16777217 }]);
  });
});

describe('ipc identity with a damaged checkpoint', () => {
  const damaged = '[{"id":16777217,"labels":{"a":{"source":"k8s"}}}]';

  test('warns with the offset where the answer does not hang on it, and leaves the file alone', async () => {
    writeFileSync(state, damaged);
    const before = statSync(state).mtimeMs;
    const { exitCode, stdout, stderr } = await run('16777217');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('10.0.0.0/8 10.1.0.0/16');
    expect(stderr).toContain('a label has no key (at byte 30, in [0].labels["a"])');
    expect([readFileSync(state, 'utf8'), statSync(state).mtimeMs]).toEqual([damaged, before]);
  });

  test('says nothing of a number that is nowhere else: 9, and what it found', async () => {
    writeFileSync(state, damaged);
    const result = await run('--json', '16777217', '16777999');
    expect(result.exitCode).toBe(9);
    expect(JSON.parse(result.stdout)).toMatchObject([{ identity: 16777217 }]);
    expect(errorOf(result)).toMatchObject({ code: 'BAD_CHECKPOINT', file: state });
    expect(result.stderr).toContain('it is in no checkpoint that could be read and not in the map');
  });

  test.each([[['k8s:a']], [['--unused']]])('fails with 9 where it does: %j', async (words) => {
    writeFileSync(state, damaged);
    const result = await run('--json', ...words);
    expect([result.exitCode, result.stdout]).toEqual([9, '']);
    expect(errorOf(result)).toMatchObject({
      code: 'BAD_CHECKPOINT',
      file: state,
      offset: 30,
      field: '[0].labels["a"]',
    });
    expect(readFileSync(state, 'utf8')).toBe(damaged);
  });

  test('a missing file that was named is worth a warning', async () => {
    rmSync(state);
    const { exitCode, stderr } = await run('16777217');
    expect([exitCode, stderr]).toEqual([0, `Warning: there is no file ${state}\n`]);
  });
});
