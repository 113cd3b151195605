import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import Diff from '../../src/commands/diff.ts';
import { errorOf, type RunOptions, runCommand } from '../support/run-command.ts';
import { expectFits } from '../support/schemas.ts';
import { type EntryValue, type SnapshotParts, snapshotText } from '../support/snapshot-lines.ts';
import { nodeSnapshot } from '../support/two-nodes.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'ipc-diff-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

function stored(name: string, parts: SnapshotParts): string {
  const path = join(dir, name);
  writeFileSync(path, snapshotText(parts));
  return path;
}

async function diff(argv: readonly string[], options: RunOptions = {}) {
  const result = await runCommand(Diff, ['--json', ...argv], options);
  const report = result.stdout === '' ? undefined : JSON.parse(result.stdout);
  if (report !== undefined) {
    expectFits('diff', report);
    expectFits('report', report);
  }
  return { ...result, report };
}

const LABELS = ['cidr:192.0.2.0/24', 'reserved:world'];
const entry = (prefix: string, identity: number, more: Partial<EntryValue> = {}): EntryValue => ({
  prefix,
  family: prefix.includes(':') ? 'ipv6' : 'ipv4',
  identity,
  encryptKey: 0,
  flags: 0,
  ...more,
});
const BEFORE: SnapshotParts = {
  identities: [{ identity: 16777219, labels: LABELS }],
  entries: [entry('10.0.0.1/32', 300), entry('192.0.2.0/24', 16777219), entry('192.0.2.128/25', 301)],
};
const AFTER: SnapshotParts = {
  identities: [{ identity: 16777223, labels: [LABELS[0] ?? '', 'reserved:kube-apiserver', LABELS[1] ?? ''] }],
  entries: [entry('10.0.0.1/32', 300), entry('192.0.2.0/24', 16777223), entry('192.0.2.192/26', 301)],
};

describe('ipc diff', () => {
  it('op 21 reports one renumbered item with the change of labels and exits 10', async () => {
    const { exitCode, report, stderr } = await diff([
      stored('a', { ...BEFORE, entries: BEFORE.entries?.slice(0, 2) ?? [] }),
      stored('b', { ...AFTER, entries: AFTER.entries?.slice(0, 2) ?? [] }),
    ]);
    expect(exitCode).toBe(10);
    expect(errorOf({ stderr })).toMatchObject({ code: 'FINDING', exitCode: 10, findings: 1 });
    expect(report.items).toEqual([
      {
        check: 'renumbered',
        severity: 'high',
        prefix: '192.0.2.0/24',
        message: '192.0.2.0/24: 16777219 (local 3) became 16777223 (local 7), got reserved:kube-apiserver',
        before: { identity: 16777219, scope: 'local', labels: LABELS, encryptKey: 0, flags: [] },
        after: {
          identity: 16777223,
          scope: 'local',
          labels: [LABELS[0], 'reserved:kube-apiserver', LABELS[1]],
          encryptKey: 0,
          flags: [],
        },
      },
    ]);
    expect(report).toMatchObject({ complete: true, summary: { findings: 1, renumbered: 1 }, migrations: [] });
    expect(report.hints).toEqual({ renumbered: expect.stringContaining('ipc identity') });
  });

  it('exits 0 between equal snapshots, in any form and from standard input', async () => {
    const a = stored('equal', BEFORE);
    const gz = join(dir, 'equal.bin');
    writeFileSync(gz, gzipSync(readFileSync(a)));
    for (const [argv, stdin] of [
      [[a, a]],
      [[a, gz]],
      [[gz, '-'], readFileSync(a, 'utf8')],
      [['-', a], readFileSync(a, 'utf8')],
    ] as const) {
      const { exitCode, report, stderr } = await diff([...argv], stdin === undefined ? {} : { stdin });
      expect([exitCode, stderr, report.items]).toEqual([0, '', []]);
    }
  });

  it('counts what --fail-on names, reports all, and looks away from what --ignore names', async () => {
    const files = [stored('a', BEFORE), stored('b', AFTER)];
    const all = await diff(files);
    expect(all.report.items.map(({ check }: { check: string }) => check)).toEqual(['renumbered', 'removed', 'added']);
    const gate = async (...argv: string[]) => {
      const { exitCode, report } = await diff([...files, ...argv]);
      return [exitCode, report.items.length];
    };
    expect(await gate('--fail-on', 'rekeyed,reflagged')).toEqual([0, 3]);
    expect(await gate('--fail-on', 'removed')).toEqual([10, 3]);
    expect(await gate('--ignore', 'removed,added')).toEqual([10, 1]);
    expect(await gate('--ignore', 'removed', '--ignore', '192.0.2.0/24')).toEqual([0, 0]);
    expect(await gate('--ignore', '16777219')).toEqual([10, 2]);
    expect(await gate('--scope', 'local')).toEqual([10, 1]);
    expect(await gate('--within', '192.0.2.128/25')).toEqual([10, 2]);
  });

  it('op 23 finds nothing between two nodes by labels, and says what it passed over', async () => {
    const files = [stored('n1', nodeSnapshot(0)), stored('n2', nodeSnapshot(1))];
    const { exitCode, report } = await diff([...files, '--by', 'labels']);
    expect([exitCode, report.items]).toEqual([0, []]);
    expect(report.summary).toMatchObject({ findings: 0, localOnOneSide: 2, unlabelled: 0 });
    const text = await runCommand(Diff, [...files, '--by', 'labels']);
    expect(text.stdout).toContain('2 local prefixes on one side only');
    expect(text.stdout.trimEnd().endsWith('no difference')).toBe(true);
  });

  it('--as-agent foretells what an agent renumbers without labels, and nothing with them', async () => {
    const entries = [
      entry('192.0.2.1/32', 16777220),
      entry('192.0.2.2/32', 16777220),
      entry('198.51.100.0/24', 16777221),
      entry('203.0.113.0/24', 41234),
    ];
    const labels = [
      { identity: 16777220, labels: ['fqdn:a.example.com', 'reserved:world'] },
      { identity: 16777221, labels: ['cidr:198.51.100.0/24', 'reserved:world'] },
    ];
    const bare = await diff([stored('bare', { entries }), '--as-agent']);
    expect([bare.exitCode, bare.report.by]).toEqual([10, 'agent']);
    const moved = bare.report.items.filter(({ check }: { check: string }) => check === 'renumbered');
    expect(moved.length).toBeGreaterThan(0);
    for (const { before, after } of moved) expect(after.identity).not.toBe(before.identity);
    const known = await diff([
      stored('known', { entries, identities: labels, header: { families: ['ipv4'] } }),
      '--as-agent',
    ]);
    expect([known.exitCode, known.report.items]).toEqual([0, []]);
    // Both families are on, as the labels show, though the map has entries of one only.
    const split = labels.map(({ identity, labels: [own = ''] }) => ({
      identity,
      labels: [own, 'reserved:world-ipv4'],
    }));
    const dual = stored('dual', { entries, identities: split, header: { families: ['ipv4'] } });
    expect((await diff([dual, '--as-agent'])).report.items).toEqual([]);
    expect((await diff([stored('bare', { entries }), stored('known', {}), '--as-agent'])).exitCode).toBe(2);
  });

  it('prints for people with everything escaped', async () => {
    const evil = 'k8s:app=\u001b[31mred\u202e';
    const { stdout, exitCode } = await runCommand(Diff, [
      stored('a', BEFORE),
      stored('b', { ...AFTER, identities: [{ identity: 16777223, labels: [evil] }] }),
    ]);
    expect(exitCode).toBe(10);
    expect(stdout).toContain('192.0.2.0/24: 16777219 (local 3) became 16777223 (local 7)');
    expect(stdout).toContain('1 cidr-label-lost, 1 renumbered, 1 removed, 1 added');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get through
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });

  it('names file, line and field of damage on either side', async () => {
    const good = stored('good', BEFORE);
    const bad = join(dir, 'bad');
    writeFileSync(bad, readFileSync(good, 'utf8').replace('"identity":301', '"identity":"x"'));
    for (const argv of [
      [good, bad],
      [bad, good],
    ]) {
      const result = await diff(argv);
      expect([result.exitCode, result.stdout]).toEqual([9, '']);
      expect(errorOf(result)).toMatchObject({ file: bad, line: 5, field: 'identity' });
    }
    writeFileSync(bad, readFileSync(good, 'utf8').slice(0, -200));
    expect((await diff([good, bad])).exitCode).toBe(9);
    const both = await diff([bad, bad]);
    expect(errorOf(both)).toMatchObject({ code: 'SNAPSHOT_CUT_OFF', file: bad });
  });

  it('says 7 when one side is incomplete, whatever it finds', async () => {
    const { exitCode, report } = await diff([stored('a', BEFORE), stored('part', { ...AFTER, complete: false })]);
    expect([exitCode, report.complete, report.items.length]).toEqual([7, false, 3]);
  });

  it.each([
    ['one side redacted', () => [stored('a', BEFORE), stored('r', { ...BEFORE, header: { redacted: true } })], 2],
    ['standard input twice', () => ['-', '-'], 2],
    ['--map and two arguments', () => [stored('a', BEFORE), stored('b', AFTER), '--map', 'id:1'], 2],
    ['a missing file', () => [stored('a', BEFORE), join(dir, 'missing')], 3],
    ['an unknown class', () => [stored('a', BEFORE), stored('b', AFTER), '--fail-on', 'renumberd'], 2],
    ['a word that is nothing', () => [stored('a', BEFORE), stored('b', AFTER), '--ignore', 'nothing'], 2],
    ['no argument', () => [], 2],
  ])('refuses %s', async (_what, argv, exit) => {
    const result = await diff(argv());
    expect([result.exitCode, result.stdout]).toEqual([exit, '']);
  });

  it('writes a page that holds itself and no markup of others', async () => {
    const page = join(dir, 'report.html');
    const evil = '<script>alert(1)</script>&"\u202e';
    await diff([
      stored('a', {
        ...BEFORE,
        identities: [{ identity: 16777219, labels: [`fqdn:${evil}`] }],
        header: { node: evil },
      }),
      stored('b', AFTER),
      '--html',
      page,
    ]);
    const text = readFileSync(page, 'utf8');
    expect(text).toContain("default-src 'none'");
    expect(text).toContain('fqdn:&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;\\u{202e}');
    expect(text).not.toMatch(/<script|https?:|\u202e|src=|href=|@import|url\(/);
    expect(text.match(/<tr class="/g)).toHaveLength(3);
  });

  it('keeps the page small however much there is', async () => {
    const many = (identity: number): SnapshotParts => ({
      identities: [{ identity, labels: [`fqdn:${'\u{1f600}'.repeat(300)}-${identity}`] }],
      entries: Array.from({ length: 5_600 }, (_, i) =>
        entry(`10.${(i >> 8) >> 8}.${(i >> 8) & 255}.${i & 255}/32`, identity + (i % 3)),
      ),
    });
    const page = join(dir, 'large.html');
    const { report } = await diff([stored('a', many(16777217)), stored('b', many(16777218)), '--html', page]);
    expect(report.items).toHaveLength(5_600);
    expect(statSync(page).size).toBeLessThan(5_000_000);
    const text = readFileSync(page, 'utf8');
    const rows = text.match(/<tr class="/g)?.length ?? 0;
    expect(rows).toBeLessThanOrEqual(5_000);
    expect(text).toContain(`${5_600 - rows} more are not shown`);
  });
});
