import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import Dump from '../../../src/commands/dump.ts';
import Snapshot from '../../../src/commands/snapshot.ts';
import type { BpfMap } from '../../../src/lib/bpf/map.ts';
import type { LayoutName } from '../../../src/lib/ipcache/layout.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { findDamage } from '../../../src/lib/snapshot/read-rows.ts';
import { openSnapshot } from '../../../src/lib/snapshot/snapshot-reader.ts';
import { pinnedIpcache, type WordEntry } from '../../support/pinned-ipcache.ts';
import { bpfDescriptors, type PinDirectory, pinDirectory } from '../../support/real-kernel.ts';
import { errorOf, type RunOptions, runCommand } from '../../support/run-command.ts';
import { expectFits } from '../../support/schemas.ts';

const kernel = new LinuxKernel();
/** In the order of a snapshot, not of the kernel. */
const ENTRIES: readonly WordEntry[] = [
  { prefix: '10.0.0.0/8', identity: 2 },
  { prefix: '10.1.0.0/16', identity: 16777217 },
  { prefix: '10.1.2.3/32', identity: 41234, tunnel: '192.0.2.10', encryptKey: 3 },
  { prefix: '10.244.2.5/32', identity: 8 },
  { prefix: '10.1.2.4/32@7', identity: 460001, flags: 8 },
  { prefix: 'fd00::/16', identity: 33554433, tunnel: 'fd00::9' },
  { prefix: 'fd00:2::5/128', identity: 8 },
];
const CHECKPOINT = [
  { id: 33554433, labels: { 'remote-node': { key: 'remote-node', source: 'reserved' } } },
  {
    id: 16777217,
    labels: { '10.1.0.0/16': { key: '10.1.0.0/16', source: 'cidr' }, world: { key: 'world', source: 'reserved' } },
  },
];

let directory: PinDirectory;
let scratch: string;
let state: string;
let file: string;
let maps: BpfMap[];
let before: number;

beforeEach(() => {
  before = bpfDescriptors();
  directory = pinDirectory('snapshot');
  scratch = mkdtempSync(join(tmpdir(), 'ipc-snapshot-'));
  state = join(scratch, 'state');
  file = join(scratch, 'snapshot.ndjson');
  writeFileSync(join(scratch, 'allocator.json'), `${JSON.stringify(CHECKPOINT)}\n`);
  maps = [];
});
afterEach(() => {
  for (const map of maps) map[Symbol.dispose]();
  directory[Symbol.dispose]();
  rmSync(scratch, { recursive: true });
  expect(bpfDescriptors()).toBe(before);
});

function pinned(name: string, entries: readonly WordEntry[], layout?: LayoutName): string {
  const pin = `${directory.path}/${name}`;
  maps.push(pinnedIpcache(kernel, pin, entries, layout));
  return pin;
}

function snapshot(argv: readonly string[], options: RunOptions = {}) {
  const shared = ['--state-dir', state, '--allocator-state', join(scratch, 'allocator.json')];
  return runCommand(Snapshot, [...shared, ...argv], options);
}

const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('ipc snapshot', () => {
  it('writes header, identities, sorted entries and an end line', async () => {
    const pin = pinned('map', ENTRIES);
    const { exitCode, stdout, stderr } = await snapshot(['-m', pin, '--cluster-name', 'east', file, '--json']);
    expect([exitCode, stderr]).toEqual([0, '']);
    const report = JSON.parse(stdout);
    expectFits('snapshot', report);
    expectFits('report', report);
    expect(report).toMatchObject({
      map: { pin, layout: 'v2' },
      file,
      complete: true,
      changed: true,
      summary: { entries: 7, localEntries: 1, identities: 2, unlabelled: 0, removed: 0 },
    });
    const lines = linesOf(readFileSync(file, 'utf8'));
    for (const line of lines) expectFits('snapshot-file', line);
    expect(lines[0]).toMatchObject({
      node: expect.any(String),
      cluster: 'east',
      bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
      time: '2026-01-02T03:04:05.006Z',
      map: { id: maps[0]?.info.id, pin, layout: 'v2', maxEntries: 10_000, flags: 1 },
      families: ['ipv4', 'ipv6'],
    });
    expect(lines.slice(1, 3)).toEqual([
      { identity: 16777217, labels: ['cidr:10.1.0.0/16', 'reserved:world'] },
      { identity: 33554433, labels: ['reserved:remote-node'] },
    ]);
    expect(lines.slice(3, -1).map(({ prefix }) => prefix)).toEqual(ENTRIES.map(({ prefix }) => prefix));
    expect(lines.at(-1)).toMatchObject({ end: true, identities: 2, entries: 7, complete: true });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await findDamage(await openSnapshot(file));
  });

  it('op 33 keeps ingress entries of both families', async () => {
    await snapshot(['-m', pinned('map', ENTRIES), file]);
    const ingress = linesOf(readFileSync(file, 'utf8')).filter(({ identity }) => identity === 8);
    expect(ingress.map(({ prefix }) => prefix)).toEqual(['10.244.2.5/32', 'fd00:2::5/128']);
  });

  it('op 15 of an empty map has counts of 0 and is complete', async () => {
    const { exitCode, stdout } = await snapshot(['-m', pinned('map', []), file, '--json', '--no-labels']);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      complete: true,
      summary: { entries: 0, localEntries: 0, identities: 0, unlabelled: null },
    });
    expect(linesOf(readFileSync(file, 'utf8')).map((line) => line.families ?? line.entries)).toEqual([[], 0]);
  });

  it('has the lines of ipc dump, in another order', async () => {
    const pin = pinned('map', ENTRIES);
    await snapshot(['-m', pin, file]);
    const { stdout } = await runCommand(Dump, ['-m', pin, '-o', 'ndjson', '--no-labels']);
    const lines = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{"prefix"'));
    expect([...lines].sort()).toEqual(stdout.trimEnd().split('\n').sort());
  });

  it('writes to standard output, and only when asked to on a terminal', async () => {
    const pin = pinned('map', ENTRIES);
    for (const argv of [
      ['-m', pin],
      ['-m', pin, '-'],
    ]) {
      const { exitCode, stdout } = await snapshot(argv);
      expect(exitCode).toBe(0);
      expect(linesOf(stdout)).toHaveLength(11);
    }
    const refused = await snapshot(['-m', pin], { terminal: true });
    expect([refused.exitCode, refused.stdout]).toEqual([2, '']);
    expect((await snapshot(['-m', pin, '-'], { terminal: true })).exitCode).toBe(0);
  });

  it('compresses by the name and converts by content', async () => {
    const pin = pinned('map', ENTRIES);
    await snapshot(['-m', pin, `${file}.gz`]);
    const text = gunzipSync(readFileSync(`${file}.gz`)).toString();
    const { exitCode, stdout, stderr } = await snapshot(['--from', `${file}.gz`, file, '--json']);
    expect(stderr).toBe('');
    expect(exitCode).toBe(0);
    expectFits('snapshot', JSON.parse(stdout));
    expect(readFileSync(file, 'utf8')).toBe(text);
    const piped = await snapshot(['--from', '-'], { stdin: text });
    expect([piped.exitCode, piped.stdout]).toEqual([0, text]);
  });

  it('keeps bytes that no field shows', async () => {
    const pin = pinned('map', []);
    const { key, value } = { key: new Uint8Array(24), value: new Uint8Array(24) };
    key.set([64, 0, 0, 0, 0, 0, 0, 1, 10, 0, 0, 4]);
    value.set([2, 0, 0, 0, 192, 0, 2, 77]);
    maps[0]?.update(key, value);
    await snapshot(['-m', pin, file, '--no-labels']);
    expect(linesOf(readFileSync(file, 'utf8'))[1]).toMatchObject({
      prefix: '10.0.0.4/32',
      key: Buffer.from(key).toString('hex'),
      value: Buffer.from(value).toString('hex'),
    });
    await findDamage(await openSnapshot(file));
  });

  it('replaces nothing by an empty map or by far fewer local entries', async () => {
    const local = (count: number): WordEntry[] =>
      Array.from({ length: count }, (_, i) => ({ prefix: `10.0.${i}.0/24`, identity: 16777217 + i }));
    await snapshot(['-m', pinned('many', local(9)), file, '--no-labels']);
    const good = readFileSync(file, 'utf8');
    for (const [name, entries] of [
      ['empty', []],
      ['few', local(4)],
    ] as const) {
      const pin = pinned(name, entries);
      const refused = await snapshot(['-m', pin, file, '--no-labels', '--json']);
      expect(refused.exitCode).toBe(13);
      expect(errorOf(refused)).toMatchObject({ code: 'SNAPSHOT_GUARD', path: file });
      expect(readFileSync(file, 'utf8')).toBe(good);
      expect(readdirSync(scratch)).not.toContainEqual(expect.stringContaining('.tmp'));
    }
    expect((await snapshot(['-m', pinned('half', local(5)), file, '--no-labels'])).exitCode).toBe(0);
    expect((await snapshot(['-m', `${directory.path}/empty`, file, '--no-labels', '--force'])).exitCode).toBe(0);
    writeFileSync(file, 'something else\n');
    expect((await snapshot(['-m', `${directory.path}/half`, file, '--no-labels'])).exitCode).toBe(13);
    expect(readFileSync(file, 'utf8')).toBe('something else\n');
  });

  it('replaces nothing when a signal comes', async () => {
    await snapshot(['-m', pinned('map', ENTRIES), file]);
    const good = readFileSync(file, 'utf8');
    // A number that the checkpoint will never have: there is time for a signal.
    const pin = pinned('more', [...ENTRIES, { prefix: '192.0.2.0/24', identity: 16777300 }]);
    const onStart = (deliver: (signal: NodeJS.Signals) => void): void => void setTimeout(() => deliver('SIGTERM'), 300);
    const { exitCode } = await snapshot(['-m', pin, file], { onStart });
    expect([exitCode, readFileSync(file, 'utf8')]).toEqual([143, good]);
    expect(readdirSync(scratch)).not.toContainEqual(expect.stringContaining('.tmp'));
  });

  it('--keep leaves the newest N and nothing of others', async () => {
    const pin = pinned('map', ENTRIES);
    const kept = join(scratch, 'kept');
    for (const second of [1, 2, 3, 4]) {
      const now = Date.UTC(2026, 0, 2, 3, 4, second);
      const { exitCode, stdout } = await snapshot(['-m', pin, '--keep', '2', kept, '--json'], { now });
      expect(exitCode).toBe(0);
      expectFits('snapshot', JSON.parse(stdout));
      if (second === 1) writeFileSync(join(kept, 'notes.txt'), 'mine');
    }
    expect(readdirSync(kept).sort()).toEqual([
      'ipcache-20260102T030403.000Z.ndjson.gz',
      'ipcache-20260102T030404.000Z.ndjson.gz',
      'notes.txt',
    ]);
    const empty = await snapshot(['-m', pinned('empty', []), '--keep', '2', kept]);
    expect(empty.exitCode, 'an empty map would drive a good one out').toBe(13);
    expect((await snapshot(['-m', pin, scratch])).exitCode, 'a directory without --keep').toBe(2);
  });

  it('--dry-run reports and writes nothing', async () => {
    const kept = join(scratch, 'kept');
    const { exitCode, stdout } = await snapshot(['-m', pinned('map', ENTRIES), '-n', '--keep', '1', kept, '--json']);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ changed: false, dryRun: true, summary: { entries: 7 } });
    expect(existsSync(kept)).toBe(false);
  });

  it('--redact uses one key again and again and leaves no name', async () => {
    const pin = pinned('map', ENTRIES);
    const one = await snapshot(['-m', pin, '--redact']);
    const two = await snapshot(['-m', pin, '--redact']);
    expect(one.exitCode).toBe(0);
    expect(one.stdout).toBe(two.stdout);
    expect(statSync(join(state, 'redact.key')).mode & 0o777).toBe(0o600);
    for (const { prefix, tunnel } of ENTRIES) {
      for (const address of [prefix.split('/')[0] ?? '', ...(tunnel ? [tunnel] : [])]) {
        expect(one.stdout).not.toContain(`"${address}`);
        expect(one.stdout).not.toContain(`:${address}`);
      }
    }
    expect(linesOf(one.stdout)[0]).toMatchObject({ redacted: true });
    await snapshot(['-m', pin, file]);
    const converted = await snapshot(['--from', file, '--redact-key', join(state, 'redact.key')]);
    expect(converted.stdout.split('\n').slice(1)).toEqual(
      one.stdout.split('\n').slice(1, -2).concat(converted.stdout.split('\n').slice(-2)),
    );
  });

  it('waits until the checkpoint has the numbers of the map', async () => {
    const pin = pinned('map', [...ENTRIES, { prefix: '192.0.2.0/24', identity: 16777300 }]);
    const allocator = join(scratch, 'allocator.json');
    const more = [...CHECKPOINT, { id: 16777300, labels: { '192.0.2.0/24': { key: '192.0.2.0/24', source: 'cidr' } } }];
    let turns = 0;
    const now = Date.UTC(2026, 0, 2);
    const late = setTimeout(() => writeFileSync(allocator, JSON.stringify(more)), 300);
    const { stdout, exitCode } = await snapshot(['-m', pin, file, '--json'], { now: now + turns++ });
    clearTimeout(late);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ summary: { identities: 3, unlabelled: 0 } });
  });

  it('goes on without labels when the checkpoint is damaged, and says so', async () => {
    writeFileSync(join(scratch, 'allocator.json'), '[{"id":1677');
    const { exitCode, stdout, stderr } = await snapshot(['-m', pinned('map', ENTRIES), file, '--json']);
    expect(exitCode).toBe(0);
    expect(stderr.match(/no labels joined/g)).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({ summary: { identities: 0, unlabelled: 2 } });
    expect(readFileSync(join(scratch, 'allocator.json'), 'utf8')).toBe('[{"id":1677');
  });

  it('names file, line and field of a damaged source', async () => {
    await snapshot(['-m', pinned('map', ENTRIES), file]);
    writeFileSync(file, readFileSync(file, 'utf8').replace('"identity":2,', '"identity":-2,'));
    const result = await snapshot(['--from', file, join(scratch, 'other.ndjson'), '--json']);
    expect(result.exitCode).toBe(9);
    expect(errorOf(result)).toMatchObject({ file, line: 4, field: 'identity' });
    expect(existsSync(join(scratch, 'other.ndjson'))).toBe(false);
  });

  it('reads every layout', async () => {
    for (const layout of ['1.16', '1.14', '1.5', '1.2'] as const) {
      const entries: WordEntry[] = [
        { prefix: '10.0.0.0/8', identity: 16777217 },
        { prefix: '10.1.2.3/32', identity: 41234, tunnel: '192.0.2.10' },
      ];
      const pin = pinned(`layout-${layout.replace('.', '-')}`, entries, layout);
      await snapshot(['-m', pin, '--layout', layout, file, '--force', '--no-labels']);
      const lines = linesOf(readFileSync(file, 'utf8'));
      expect(lines[0].map.layout).toBe(layout);
      expect(lines[2]).toMatchObject({ prefix: '10.1.2.3/32', tunnelEndpoint: '192.0.2.10' });
    }
  });
});
