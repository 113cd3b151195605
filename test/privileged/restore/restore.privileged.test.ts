import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import Restore from '../../../src/commands/restore.ts';
import Snapshot from '../../../src/commands/snapshot.ts';
import { CachingAllocator } from '../../../src/lib/identity/caching-allocator.ts';
import { Labels } from '../../../src/lib/identity/labels.ts';
import { numericIdentity } from '../../../src/lib/identity/numeric-identity.ts';
import { bpfDescriptors } from '../../support/real-kernel.ts';
import { type ReportItem, Site } from '../../support/restore-site.ts';
import { errorOf } from '../../support/run-command.ts';

let site: Site;
let before: number;
beforeEach(() => {
  before = bpfDescriptors();
  site = new Site('restore');
});
afterEach(() => {
  site[Symbol.dispose]();
  expect(bpfDescriptors()).toBe(before);
});

const missing = (): string[] => ['--allocator-state', site.allocator('null')];
const item = (items: readonly ReportItem[], prefix: string) => items.find((candidate) => candidate.prefix === prefix);

const SHARED = [
  { prefix: '192.0.2.1/32', identity: 16777220 },
  { prefix: '192.0.2.2/32', identity: 16777220 },
  { prefix: '198.51.100.0/24', identity: 16777221 },
];

describe('ipc restore in place', () => {
  it('op 29: without a checkpoint numbers stay; shared ones have unknown labels, a lone one guessed ones', async () => {
    site.map(SHARED);
    const report = await site.report(Restore, ['--map', site.pin, ...missing()]);
    expect(report).toMatchObject({ changed: false, complete: true, summary: { kept: 3, unknown: 2, guessed: 1 } });
    expect(item(report.items, '192.0.2.1/32')).toMatchObject({ action: 'keep', identity: 16777220 });
    expect(item(report.items, '192.0.2.1/32')?.labels).toBeUndefined();
    expect(item(report.items, '198.51.100.0/24')).toMatchObject({
      labels: ['cidr:198.51.100.0/24', 'reserved:world-ipv4'],
      labelsFrom: 'guessed',
    });
    expect(await site.numbers()).toEqual(Object.fromEntries(SHARED.map(({ prefix, identity }) => [prefix, identity])));
    expect(site.state.placeholders.map(({ prefix, requested }) => [prefix, requested])).toEqual([
      ['192.0.2.1/32', true],
      ['192.0.2.2/32', true],
      ['198.51.100.0/24', true],
    ]);
  });

  it('op 29: --as-agent foretells three numbers where there are two, and changes nothing', async () => {
    site.map(SHARED);
    const report = await site.report(Restore, ['--map', site.pin, '--as-agent', '--all-items', ...missing()]);
    // Golden topic 10, "map only, shared id", decides: the requested number goes to the prefix that is resolved first, the
    // other prefixes of a shared number get new ones, each its own; a number used once is kept. In the agent's new map the
    // three entries so have three different numbers. It resolves in random order: any of those that share may be the one.
    expect(report).toMatchObject({ asAgent: true, changed: false, summary: { kept: 2, renumbered: 1, lost: 0 } });
    expect(report.items.map(({ prefix, action, identity }) => [prefix, action, identity])).toEqual([
      ['192.0.2.1/32', 'keep', 16777220],
      ['192.0.2.2/32', 'update', 16777217],
      ['198.51.100.0/24', 'keep', 16777221],
    ]);
    expect(item(report.items, '192.0.2.1/32')?.reason).toMatch(/^may-be-renumbered: /);
    expect(item(report.items, '198.51.100.0/24')?.reason).toBe('keeps its number');
    expect(report.warnings?.join()).toContain('which may be any');
    expect(site.stateText).toBeUndefined();
  });

  it('op 29: --as-agent lists whoever may be renumbered, and nobody where the checkpoint knows the number', async () => {
    site.map(SHARED);
    const run = (allocator: string) =>
      site.report(Restore, ['--map', site.pin, '--as-agent', '--allocator-state', allocator]);
    expect((await run(site.allocator('null'))).items.map(({ prefix }) => prefix)).toEqual([
      '192.0.2.1/32',
      '192.0.2.2/32',
    ]);
    const known = await run(site.allocator({ 16777220: ['fqdn:example.org', 'reserved:world-ipv4'] }));
    expect(known).toMatchObject({ items: [], summary: { kept: 3, renumbered: 0 } });
    expect(known.warnings).toBeUndefined();
  });

  it('op 30: what the checkpoint lacks keeps its number with guessed labels', async () => {
    const entries = Array.from({ length: 5 }, (_, i) => ({ prefix: `198.51.${i}.0/24`, identity: 16777220 + i }));
    site.map(entries);
    const known = Object.fromEntries(
      entries.slice(0, 4).map(({ prefix, identity }) => [identity, [`cidr:${prefix}`, 'reserved:world-ipv4']]),
    );
    const report = await site.report(Restore, ['--map', site.pin, '--allocator-state', site.allocator(known)]);
    expect(report.summary).toMatchObject({ kept: 5, known: 4, guessed: 1, conflicts: 0 });
    expect(report.items).toEqual([expect.objectContaining({ prefix: '198.51.4.0/24', identity: 16777224 })]);
    expect(site.state.identities.map(({ labelsFrom }) => labelsFrom)).toEqual([
      ...Array(4).fill('allocator'),
      'guessed',
    ]);
  });

  it('op 31: the map keeps its number against the checkpoint, unless that is preferred', async () => {
    site.map([{ prefix: '203.0.113.0/24', identity: 16777300 }]);
    const allocator = site.allocator({ 16777200: ['cidr:203.0.113.0/24', 'reserved:world-ipv4'] });
    const argv = ['--map', site.pin, '--allocator-state', allocator];
    const report = await site.report(Restore, argv, 7);
    expect(report).toMatchObject({ changed: false, complete: false, summary: { conflicts: 1 } });
    expect(report.items[0]).toMatchObject({
      action: 'conflict',
      identity: 16777300,
      reason: expect.stringContaining('16777200'),
    });
    expect(await site.numbers()).toEqual({ '203.0.113.0/24': 16777300 });

    const preferred = await site.report(Restore, [...argv, '--prefer', 'checkpoint']);
    expect(preferred).toMatchObject({ changed: true, summary: { updated: 1, conflicts: 0 } });
    expect(await site.numbers()).toEqual({ '203.0.113.0/24': 16777200 });
    expect(existsSync(String(preferred.backup))).toBe(true);
    // The number of that row is no local one: it is written where it is preferred, and not held by anybody.
    expect(site.state).toMatchObject({ identities: [{ identity: 16777300, prefixes: [] }], placeholders: [] });
    expect(await site.report(Restore, argv)).toMatchObject({ changed: false, skippedByRule: { 'global-scope': 1 } });
  });

  it('op 13: an entry that gets the number of the checkpoint keeps its flags, those without a name too', async () => {
    site.map([{ prefix: '203.0.113.0/24', identity: 16777300, flags: 0xf1 }]);
    const allocator = site.allocator({ 16777220: ['cidr:203.0.113.0/24', 'reserved:world-ipv4'] });
    await site.report(Restore, ['--map', site.pin, '--allocator-state', allocator, '--prefer', 'checkpoint']);
    const entry = (await site.entries()).get('203.0.113.0/24');
    expect(entry).toMatchObject({ identity: 16777220, flags: 0xf1 });
  });

  it('remembers the first number of the local scope, which no allocator gives but the agent restores', async () => {
    site.map([{ prefix: '10.0.0.4/32', identity: 16777216 }]);
    await site.report(Restore, ['--map', site.pin, ...missing()]);
    expect(site.state.placeholders).toMatchObject([{ prefix: '10.0.0.4/32', identity: 16777216 }]);
    expect(await site.report(Restore, ['--map', site.pin, ...missing()])).toMatchObject({ summary: { kept: 1 } });
  });

  it('op 33: ingress addresses are kept apart and are no placeholders', async () => {
    site.map([
      { prefix: '10.244.2.5/32', identity: 8 },
      { prefix: 'fd00::5/128', identity: 8 },
    ]);
    const report = await site.report(Restore, ['--map', site.pin, ...missing()]);
    expect(report.summary).toMatchObject({ ingress: 2, kept: 2 });
    expect(report.items.map(({ reason }) => reason)).toEqual(['ingress', 'ingress']);
    expect(site.state).toMatchObject({ ingress: ['10.244.2.5/32', 'fd00::5/128'], placeholders: [] });
    const skipping = await site.report(Restore, ['--map', site.pin, '--skip-ingress', ...missing()]);
    expect(skipping).toMatchObject({ skippedByRule: { 'skip-ingress': 2 }, summary: { ingress: 0 } });
  });

  it('op 34: a remote-node identity that is no more one is skipped as rescoped, and its number withheld', async () => {
    site.map([{ prefix: '198.51.100.0/24', identity: 16777221 }]);
    const allocator = site.allocator({
      16777221: ['cidr:198.51.100.0/24', 'reserved:world-ipv4'],
      33554433: ['cidr:192.0.2.1/32', 'reserved:remote-node'],
    });
    const report = await site.report(Restore, ['--map', site.pin, '--allocator-state', allocator]);
    expect(report.summary).toMatchObject({ rescoped: 1, kept: 1, known: 1, withheld: 2 });
    expect(report.warnings?.join()).toContain('33554433');
    expect(site.state.identities.map(({ identity }) => identity)).toEqual([16777221, 33554433]);
  });

  it.each([
    ['an empty file', '', 0],
    ['half an array', '[{"id":16777221,"labels":{"a":{"key":"a","source":"cidr"}}}', 59],
    ['a word', 'nothing', 0],
  ])('op 36: %s is reported with file and offset, left alone, and the map goes on', async (_, text, offset) => {
    site.map([{ prefix: '198.51.100.0/24', identity: 16777221 }]);
    const allocator = site.allocator(text);
    const { exitCode, stdout, stderr } = await site.run(Restore, [
      '--map',
      site.pin,
      '--allocator-state',
      allocator,
      '--json',
    ]);
    expect(exitCode).toBe(0);
    const line = JSON.parse(stderr.split('\n').find((text) => text.includes('"warn"')) ?? '');
    expect(line).toMatchObject({ level: 'warn', file: allocator, offset });
    expect(JSON.parse(stdout)).toMatchObject({ summary: { kept: 1, guessed: 1 } });
    expect(readFileSync(allocator, 'utf8')).toBe(text);
  });

  it('op 36: null, a number twice, and labels as text each have one outcome', async () => {
    site.map([
      { prefix: '198.51.100.0/24', identity: 16777221 },
      { prefix: '203.0.113.0/24', identity: 16777222 },
    ]);
    const run = (text: string) =>
      site.report(Restore, ['--map', site.pin, '--allocator-state', site.allocator(text), '--all-items']);
    expect((await run('null')).summary).toMatchObject({ guessed: 2 });
    const twice = await run(
      '[{"id":16777221,"labels":{"x":"fqdn:x"}},{"id":16777221,"labels":{"y":"fqdn:y"}},{"id":16777222,"labels":{"203.0.113.0/24":{"key":"203.0.113.0/24","source":"cidr"},"w":"reserved:world-ipv4"}}]',
    );
    expect(twice.summary).toMatchObject({ known: 2 });
    expect(twice.warnings?.join()).toContain('16777221 twice');
    expect(item(twice.items, '198.51.100.0/24')).toMatchObject({ labels: ['fqdn:x'], labelsFrom: 'allocator' });
  });

  it('op 39a: the number of a skipped entry is never given to other labels', async () => {
    site.map([{ prefix: '10.1.5.0/24', identity: 16777217, tunnel: '192.0.2.9' }]);
    const report = await site.report(Restore, ['--map', site.pin, ...missing()]);
    expect(report).toMatchObject({ skippedByRule: { 'tunnel-endpoint': 1 }, summary: { withheld: 1 } });
    const allocator = new CachingAllocator();
    allocator.withhold(site.state.identities.map(({ identity }) => numericIdentity(identity)));
    expect(allocator.allocateLocalIdentity(Labels.parse(['cidr:203.0.113.0/24'])).identity.id).toBe(16777218);
  });

  it('is done twice without a difference', async () => {
    site.map(SHARED);
    await site.report(Restore, ['--map', site.pin, ...missing()]);
    const first = site.state;
    await site.report(Restore, ['--map', site.pin, ...missing()], 0, { now: Date.UTC(2026, 0, 2, 4) });
    const second = site.state;
    expect(second.placeholders).toEqual(first.placeholders);
    expect(second.identities).toEqual(first.identities);
  });
});

describe('ipc restore --to', () => {
  it('op 32: from v1 a local entry goes over plain, one with a tunnel only with --all and its flag', async () => {
    const old = `${site.pins}/cilium_ipcache`;
    site.map(
      [
        { prefix: '10.0.0.7/32', identity: 4711, tunnel: '192.0.2.10' },
        { prefix: '198.51.100.0/24', identity: 16777221 },
      ],
      { pin: old, layout: '1.16' },
    );
    const report = await site.report(Restore, ['--map', old, '--to', site.pin, ...missing()]);
    expect(report).toMatchObject({ changed: true, made: { how: 'new', flags: 0x81, maxEntries: 10_000 } });
    expect([...(await site.entries()).values()]).toEqual([
      expect.objectContaining({ prefix: '198.51.100.0/24', identity: 16777221, flags: 0 }),
    ]);
    rmSync(site.pin);
    await site.report(Restore, ['--map', old, '--to', site.pin, '--all', ...missing()]);
    const entries = await site.entries();
    expect(entries.get('10.0.0.7/32')).toMatchObject({ identity: 4711, tunnelEndpoint: '192.0.2.10', flags: 2 });
    expect(entries.get('198.51.100.0/24')).toMatchObject({ identity: 16777221, flags: 0 });
    // And back, where it fits.
    const back = `${site.pins}/back`;
    await site.report(Restore, ['--map', site.pin, '--to', back, '--layout', '1.16', '--all', ...missing()]);
    expect(await site.numbers(back, '1.16')).toEqual({ '10.0.0.7/32': 4711, '198.51.100.0/24': 16777221 });
  });
});

describe('ipc restore --all', () => {
  const old = (): string => `${site.pins}/old`;
  const MIXED = [
    { prefix: '198.51.100.0/24', identity: 16777221 },
    { prefix: '10.0.0.7/32', identity: 4711, tunnel: '192.0.2.10' },
    { prefix: '10.0.0.8/32', identity: 4712, tunnel: 'fd00::10' },
  ];

  it.each([
    ['a map that is made', false],
    ['one that is there', true],
  ])('into %s reports what does not fit with its number, and a dry run foretells all of it', async (_, isThere) => {
    site.map(MIXED, { pin: old() });
    if (isThere) site.map([{ prefix: '10.0.0.7/32', identity: 4711 }], { layout: '1.16' });
    const argv = ['--map', old(), '--to', site.pin, '--all', '--layout', '1.16', ...missing()];
    const planned = await site.report(Restore, [...argv, '--dry-run'], 7);
    expect(planned).toMatchObject({ changed: false, dryRun: true });
    expect(isThere ? await site.numbers(site.pin, '1.16') : existsSync(site.pin)).toEqual(
      isThere ? { '10.0.0.7/32': 4711 } : false,
    );
    const report = await site.report(Restore, argv, 7);
    for (const each of [planned, report]) {
      expect(each.summary).toMatchObject({ carried: isThere ? 0 : 1, failed: 1 });
      expect(item(each.items, '10.0.0.8/32')).toMatchObject({
        action: 'conflict',
        identity: 4712,
        reason: expect.stringMatching(/^does-not-fit: /),
        policyMaps: 0,
        done: false,
      });
    }
    expect(await site.numbers(site.pin, '1.16')).toEqual({ '198.51.100.0/24': 16777221, '10.0.0.7/32': 4711 });
  });

  it('does not hide a tunnel of the target, in a dry run neither', async () => {
    site.map([{ prefix: '10.0.0.9/32', identity: 4711 }], { pin: old() });
    site.map([{ prefix: '10.0.0.0/24', identity: 2, tunnel: '192.0.2.10' }]);
    const argv = ['--map', old(), '--to', site.pin, '--all', ...missing()];
    for (const more of [['--dry-run'], []]) {
      const report = await site.report(Restore, [...argv, ...more], 7);
      expect(report.items).toEqual([
        expect.objectContaining({ identity: 4711, reason: expect.stringMatching(/^would-lose-tunnel: /) }),
      ]);
    }
    expect(await site.numbers()).toEqual({ '10.0.0.0/24': 2 });
  });
});

it.each([
  ['made', (): string[] => ['--to', `${site.pins}/small`]],
  ['made in the place of the old one', (): string[] => ['--recreate']],
])('ipc restore changes nothing where the map that is %s is too small, and a dry run foretells it', async (_, argv) => {
  site.map([...SHARED, { prefix: '10.0.0.7/32', identity: 4711, tunnel: '192.0.2.10' }]);
  const id = site.mapId();
  for (const more of [['--dry-run'], []]) {
    const words = ['--map', site.pin, ...argv(), '--all', '--max-entries', '3', '--json', ...missing(), ...more];
    const result = await site.run(Restore, words);
    expect([result.exitCode, errorOf(result).code]).toEqual([1, 'NEW_MAP_TOO_SMALL']);
    expect(errorOf(result).hint).toContain('--max-entries');
    expect(site.mapId()).toBe(id);
    expect(readdirSync(site.pins)).toEqual(['cilium_ipcache_v2']);
    expect(site.stateText).toBeUndefined();
  }
  await site.report(Restore, ['--map', site.pin, ...argv(), '--all', '--max-entries', '4', ...missing()]);
});

describe('ipc restore --from', () => {
  const snapshot = (): string => site.file('before.ndjson');
  /** The clock of these tests stands still, so the snapshot must not have to wait for the checkpoint. */
  const FQDN = ['fqdn:example.org', 'reserved:world-ipv4'];
  const LABELS = { 16777220: FQDN, 16777221: ['cidr:198.51.100.0/24', 'reserved:world-ipv4'] };
  const take = async (allocator = site.allocator(LABELS), now?: number): Promise<void> => {
    const options = now === undefined ? {} : { now };
    const { exitCode, stderr } = await site.run(
      Snapshot,
      [snapshot(), '--map', site.pin, '--allocator-state', allocator],
      options,
    );
    expect(exitCode, stderr).toBe(0);
  };

  it('makes the map anew after a reboot, ingress included, global entries left to others', async () => {
    site.map([...SHARED, { prefix: '10.244.2.5/32', identity: 8 }, { prefix: '10.0.0.9/32', identity: 4711 }]);
    const allocator = site.allocator(LABELS);
    await take(allocator);
    rmSync(site.pin);
    rmSync(allocator);
    const report = await site.report(Restore, ['--from', snapshot()]);
    expect(report).toMatchObject({
      changed: true,
      made: { how: 'new' },
      summary: { added: 4, known: 3, ingress: 1 },
    });
    expect(Object.keys(await site.numbers())).toHaveLength(4);
  });

  it('takes labels that were only guessed for guessed, though a snapshot was taken of what is remembered', async () => {
    site.map(SHARED);
    await site.report(Restore, ['--map', site.pin, ...missing()]);
    expect(site.state.identities.find(({ identity }) => identity === 16777221)?.labelsFrom).toBe('guessed');
    const { exitCode } = await site.run(
      Snapshot,
      [snapshot(), '--map', site.pin, '--allocator-state', site.file('no')],
      {
        now: Date.UTC(2026, 0, 2, 3, 5),
      },
    );
    expect(exitCode).toBe(0);
    rmSync(site.pin);
    const argv = ['--from', snapshot(), '--map', site.pin, '--dry-run'];
    rmSync(site.stateDir, { recursive: true });
    const report = await site.report(Restore, argv);
    expect(item(report.items, '198.51.100.0/24')).toMatchObject({ labelsFrom: 'guessed' });
  });

  it('adds what a live map lacks, and reports what has another number there', async () => {
    site.map(SHARED);
    await take();
    site.map([
      { prefix: '192.0.2.1/32', identity: 16777299 },
      { prefix: '192.0.0.0/16', identity: 2, tunnel: '192.0.2.200' },
    ]);
    const allocator = site.allocator({ 16777220: FQDN });
    const report = await site.report(
      Restore,
      ['--from', snapshot(), '--map', site.pin, '--allocator-state', allocator],
      7,
    );
    expect(item(report.items, '192.0.2.1/32')).toMatchObject({
      action: 'conflict',
      reason: expect.stringMatching(/^renumbered/),
    });
    expect(item(report.items, '192.0.2.2/32')).toMatchObject({
      action: 'conflict',
      reason: expect.stringMatching(/^would-lose-tunnel/),
    });
    expect(item(report.items, '198.51.100.0/24')).toMatchObject({ action: 'add', done: true });
    expect(await site.numbers()).toEqual({ '192.0.2.1/32': 16777299, '192.0.0.0/16': 2, '198.51.100.0/24': 16777221 });
  });

  it('never gives a number that means something else by now', async () => {
    site.map(SHARED);
    await take();
    site.map([]);
    const allocator = site.allocator({ 16777220: ['fqdn:example.com', 'reserved:world-ipv4'] });
    const report = await site.report(
      Restore,
      ['--from', snapshot(), '--map', site.pin, '--allocator-state', allocator],
      7,
    );
    expect(item(report.items, '192.0.2.1/32')).toMatchObject({
      action: 'conflict',
      reason: expect.stringMatching(/^number-reused/),
    });
    expect(await site.numbers()).toEqual({ '198.51.100.0/24': 16777221 });
  });

  it('refuses an old one, one with --all, and a foreign one, and changes nothing', async () => {
    site.map(SHARED);
    const at = Date.UTC(2026, 0, 1);
    await take(site.allocator(LABELS), at);
    site.map([]);
    const argv = ['--from', snapshot(), '--map', site.pin];
    const status = async (more: string[], now: number) =>
      (await site.run(Restore, [...argv, ...more], { now })).exitCode;
    expect(await status([], at + 3_700_000)).toBe(13);
    expect(await status(['--all'], at + 60_000)).toBe(13);
    expect(await site.numbers()).toEqual({});
    expect(await status(['--max-age', '2h'], at + 3_700_000)).toBe(0);
    const text = readFileSync(snapshot(), 'utf8');
    expect(text).toContain('"machine"');
  });
});

describe('ipc restore --recreate', () => {
  it('fills a complete new map and puts it in the place of the old one', async () => {
    const entries = [...SHARED, { prefix: '10.0.0.9/32', identity: 4711, tunnel: '192.0.2.10', encryptKey: 3 }];
    site.map(entries);
    const old = site.mapId();
    const before = await site.entries();
    const argv = ['--map', site.pin, '--recreate', '--max-entries', '20000', ...missing()];
    const planned = await site.report(Restore, [...argv, '--dry-run']);
    expect(site.mapId()).toBe(old);
    const report = await site.report(Restore, argv);
    expect(planned.summary).toEqual(report.summary);
    expect(report.summary.carried).toBe(1);
    expect(report).toMatchObject({ changed: true, made: { how: 'recreated', maxEntries: 20_000 } });
    expect(site.mapId()).not.toBe(old);
    expect(await site.entries()).toEqual(before);
    expect(existsSync(`${site.pin}_pending`)).toBe(false);
    expect(site.state.map?.id).toBe(site.mapId());
  });
});
