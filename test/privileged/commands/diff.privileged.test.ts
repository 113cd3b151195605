import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import Diff from '../../../src/commands/diff.ts';
import Snapshot from '../../../src/commands/snapshot.ts';
import type { BpfMap } from '../../../src/lib/bpf/map.ts';
import { pinMap } from '../../../src/lib/bpf/pin.ts';
import type { LayoutName } from '../../../src/lib/ipcache/layout.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { entryBytes, pinnedIpcache, type WordEntry } from '../../support/pinned-ipcache.ts';
import { bpfDescriptors, type PinDirectory, pinDirectory, realTrie } from '../../support/real-kernel.ts';
import { errorOf, type RunOptions, runCommand } from '../../support/run-command.ts';
import { expectFits } from '../../support/schemas.ts';

const kernel = new LinuxKernel();
const ENTRIES: readonly WordEntry[] = [
  { prefix: '10.0.0.0/8', identity: 9 },
  { prefix: '10.1.0.0/16', identity: 16777217 },
  { prefix: '10.1.2.3/32', identity: 41234, tunnel: '192.0.2.10', encryptKey: 3 },
  { prefix: 'fd00::/16', identity: 10 },
];

let directory: PinDirectory;
let scratch: string;
let maps: BpfMap[];
let before: number;

beforeEach(() => {
  before = bpfDescriptors();
  directory = pinDirectory('diff');
  scratch = mkdtempSync(join(tmpdir(), 'ipc-diff-'));
  writeFileSync(join(scratch, 'allocator.json'), '[]\n');
  maps = [];
});
afterEach(() => {
  for (const map of maps) map[Symbol.dispose]();
  directory[Symbol.dispose]();
  rmSync(scratch, { recursive: true });
  expect(bpfDescriptors()).toBe(before);
});

function pinned(name: string, entries: readonly WordEntry[], layout: LayoutName = 'v2'): { pin: string; map: BpfMap } {
  const pin = `${directory.path}/${name}`;
  const map = pinnedIpcache(kernel, pin, entries, layout);
  maps.push(map);
  return { pin, map };
}

function put(map: BpfMap, entry: WordEntry): void {
  const { key, value } = entryBytes('v2', entry);
  map.update(key, value);
}

async function diff(argv: readonly string[], options: RunOptions = {}) {
  const shared = ['--json', '--bpffs', directory.path, '--allocator-state', join(scratch, 'allocator.json')];
  const result = await runCommand(Diff, [...shared, ...argv], options);
  const report = result.stdout === '' ? undefined : JSON.parse(result.stdout);
  if (report !== undefined) expectFits('diff', report);
  return { ...result, report };
}

async function taken(pin: string): Promise<string> {
  const file = join(scratch, 'taken.ndjson');
  const { exitCode } = await runCommand(Snapshot, ['-m', pin, '--no-labels', '--force', file]);
  expect(exitCode).toBe(0);
  return file;
}

describe('ipc diff of live maps', () => {
  it('finds nothing between a map, its snapshot and itself, in any pairing', async () => {
    const { pin, map } = pinned('map', ENTRIES);
    const file = await taken(pin);
    for (const argv of [
      [file, pin],
      [pin, file],
      [pin, pin],
      [file, `id:${map.info.id}`],
      [file, '-m', pin],
    ]) {
      const { exitCode, report, stderr } = await diff(argv);
      expect([argv, exitCode, stderr, report?.items]).toEqual([argv, 0, '', []]);
    }
  });

  it('finds what changed since, and in how many policy maps the old number stands', async () => {
    const { pin, map } = pinned('map', ENTRIES);
    const file = await taken(pin);
    put(map, { prefix: '10.1.0.0/16', identity: 16777300 });
    map.delete(entryBytes('v2', { prefix: 'fd00::/16', identity: 0 }).key);
    // Cilium's policy map: prefixlen, identity at 4, direction at 8; value of 8 bytes.
    mkdirSync(`${directory.path}/tc`);
    mkdirSync(`${directory.path}/tc/globals`);
    for (const endpoint of ['00007', '00008']) {
      const policy = realTrie(kernel, { keyBytes: 12, valueBytes: 8, name: 'ipc_policy' });
      maps.push(policy);
      const key = new Uint8Array(12);
      new DataView(key.buffer).setUint32(0, 64, true);
      new DataView(key.buffer).setUint32(4, 16777217, true);
      policy.update(key, new Uint8Array(8));
      pinMap(policy, `${directory.path}/tc/globals/cilium_policy_v2_${endpoint}`);
    }
    const { exitCode, report } = await diff([file, pin]);
    expect(exitCode).toBe(10);
    expect(report.items).toMatchObject([
      { check: 'renumbered', prefix: '10.1.0.0/16', before: { identity: 16777217 }, policyMaps: 2 },
      { check: 'removed', prefix: 'fd00::/16', before: { identity: 10 }, policyMaps: 0 },
    ]);
    expect(report.after).toMatchObject({ source: pin, entries: 3, map: { id: map.info.id, layout: 'v2' } });
  });

  it('does not count what is gone at the second reading', async () => {
    const { pin, map } = pinned('map', ENTRIES);
    const file = await taken(pin);
    put(map, { prefix: '10.1.0.0/16', identity: 16777300 });
    put(map, { prefix: '10.9.0.0/16', identity: 300 });
    const back = setTimeout(() => put(map, { prefix: '10.1.0.0/16', identity: 16777217 }), 1_000);
    const { exitCode, report } = await diff([file, pin]);
    clearTimeout(back);
    expect(exitCode).toBe(10);
    expect(report.items.map(({ prefix }: { prefix: string }) => prefix)).toEqual(['10.9.0.0/16']);
  });

  it('--wait waits until it is clean, --hold fails as soon as it is not', async () => {
    const { pin, map } = pinned('map', ENTRIES);
    const file = await taken(pin);
    const wrong = { prefix: '10.1.0.0/16', identity: 16777300 };
    put(map, wrong);
    const mend = setTimeout(() => put(map, { prefix: '10.1.0.0/16', identity: 16777217 }), 1_500);
    const waited = await runReal(['--wait', '30s', file, pin]);
    clearTimeout(mend);
    expect([waited.exitCode, waited.report.items]).toEqual([0, []]);
    const spoil = setTimeout(() => put(map, wrong), 1_500);
    const held = await runReal(['--hold', '30s', file, pin]);
    clearTimeout(spoil);
    expect([held.exitCode, held.report.items.length]).toEqual([10, 1]);
  });

  it('takes the flags of a newer layout and the other map for a migration', async () => {
    const { pin: old } = pinned('old', ENTRIES.slice(0, 3), '1.16');
    const file = join(scratch, 'old.ndjson');
    await runCommand(Snapshot, ['-m', old, '--layout', '1.16', '--no-labels', file]);
    const { pin } = pinned('new', ENTRIES.slice(0, 3));
    const { exitCode, report } = await diff([file, pin]);
    expect([exitCode, report.items]).toEqual([0, []]);
    expect(report.migrations.map(({ migration }: { migration: string }) => migration)).toEqual([
      'map-replaced',
      'layout-flags',
    ]);
  });

  it('--as-agent foretells from a map and the checkpoint beside it what the agent renumbers', async () => {
    const { pin } = pinned('map', [
      { prefix: '192.0.2.1/32', identity: 16777220 },
      { prefix: '192.0.2.2/32', identity: 16777221 },
    ]);
    const label = (key: string, source: string) => ({ [key]: { key, source } });
    const records = [
      { id: 16777220, labels: { ...label('a.example.com', 'fqdn'), ...label('world-ipv4', 'reserved') } },
      // The agent adds the world's label, which makes it another identity.
      { id: 16777221, labels: label('b.example.com', 'fqdn') },
    ];
    writeFileSync(join(scratch, 'allocator.json'), JSON.stringify(records));
    // Both families are on: there is an entry of the other one.
    put(maps[0] as BpfMap, { prefix: '::/0', identity: 10 });
    const { exitCode, report } = await diff([pin, '--as-agent']);
    expect([exitCode, report.by]).toEqual([10, 'agent']);
    expect(report.items).toMatchObject([
      { check: 'renumbered', prefix: '192.0.2.2/32', before: { identity: 16777221 } },
    ]);
  });

  it('says which one it could not read', async () => {
    const { pin } = pinned('map', ENTRIES);
    const missing = await diff([pin, `${directory.path}/nothing`]);
    expect(missing.exitCode).toBe(3);
    expect(errorOf(missing)).toMatchObject({ path: `${directory.path}/nothing` });
  });
});

/** With the clock of the machine, which waiting goes by. */
async function runReal(argv: readonly string[]) {
  const started = performance.now();
  const options: RunOptions = {
    get now() {
      return Date.UTC(2026, 0, 2) + Math.round(performance.now() - started);
    },
  };
  return diff(argv, options);
}
