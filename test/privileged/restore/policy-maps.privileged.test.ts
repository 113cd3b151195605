/** Who is hurt: every number that a prefix loses or does not get says in how many policy maps it stands. */
import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import Diff from '../../../src/commands/diff.ts';
import Release from '../../../src/commands/release.ts';
import Restore from '../../../src/commands/restore.ts';
import Snapshot from '../../../src/commands/snapshot.ts';
import { openPin } from '../../../src/lib/bpf/open-pin.ts';
import { pinMap } from '../../../src/lib/bpf/pin.ts';
import { loadProgram } from '../../support/load-program.ts';
import { pinPolicyMap } from '../../support/policy-map.ts';
import { bpfDescriptors, realTrie } from '../../support/real-kernel.ts';
import { type Report, Site } from '../../support/restore-site.ts';

const AT = Date.UTC(2026, 0, 2, 3);
const soon = { now: AT + 60_000 };

let site: Site;
let before: number;
beforeEach(() => {
  before = bpfDescriptors();
  site = new Site('policy-maps');
});
afterEach(() => {
  site[Symbol.dispose]();
  expect(bpfDescriptors()).toBe(before);
});

const ROOT = (): string[] => ['--bpffs', site.pins];
const NONE = (): string[] => ['--allocator-state', site.allocator('null')];
/** Number 16777220 + i stands in the policy maps of i endpoints. */
const policyMaps = (): void => {
  for (let endpoint = 1; endpoint <= 4; endpoint++) {
    const identities = Array.from({ length: 5 - endpoint }, (_, i) => 16777220 + endpoint + i);
    pinPolicyMap(site.kernel, site.pins, endpoint, identities);
  }
};
const FIVE = Array.from({ length: 5 }, (_, i) => ({ prefix: `198.51.${i}.0/24`, identity: 16777220 + i }));
const counts = ({ items }: Report): Record<string, [string, number | null | undefined]> =>
  Object.fromEntries(items.map(({ prefix, action, policyMaps: count }) => [prefix, [action, count]]));

/** The snapshot has labels for every number, or it would wait for the checkpoint on a clock that stands still. */
const LABELS = Object.fromEntries(
  FIVE.map(({ prefix, identity }) => [identity, [`cidr:${prefix}`, 'reserved:world-ipv4']]),
);

async function taken(labels: Readonly<Record<number, readonly string[]>> = LABELS): Promise<string> {
  const file = site.file('before.ndjson');
  const argv = [file, '--map', site.pin, '--allocator-state', site.allocator(labels)];
  const { exitCode, stderr } = await site.run(Snapshot, argv, { now: AT });
  expect(exitCode, stderr).toBe(0);
  return file;
}

describe('ipc restore', () => {
  it('counts for every entry that does not get its number, whatever the reason, and for no other', async () => {
    policyMaps();
    site.map(FIVE);
    const from = await taken({ ...LABELS, 16777223: ['fqdn:example.org', 'reserved:world-ipv4'] });
    site.map([
      { prefix: '198.51.1.0/24', identity: 16777999 },
      { prefix: '198.51.2.0/23', identity: 2, tunnel: '192.0.2.200' },
      { prefix: '203.0.113.0/24', identity: 16777220 },
    ]);
    const allocator = site.allocator({
      16777223: ['fqdn:example.com', 'reserved:world-ipv4'],
      16777300: ['cidr:198.51.4.0/24', 'reserved:world-ipv4'],
    });
    const argv = ['--from', from, '--map', site.pin, ...ROOT(), '--allocator-state', allocator];
    const report = await site.report(Restore, argv, 7, soon);
    expect(report.items.map(({ prefix, reason }) => [prefix, reason.split(/[:,]/)[0]])).toEqual([
      ['198.51.0.0/24', 'number-reused'],
      ['198.51.1.0/24', 'renumbered'],
      ['198.51.2.0/24', 'would-lose-tunnel'],
      ['198.51.3.0/24', 'number-reused'],
      ['198.51.4.0/24', 'other-number-in-checkpoint'],
    ]);
    expect(counts(report)).toEqual({
      '198.51.0.0/24': ['conflict', 0],
      '198.51.1.0/24': ['conflict', 1],
      '198.51.2.0/24': ['conflict', 2],
      '198.51.3.0/24': ['conflict', 3],
      '198.51.4.0/24': ['conflict', 4],
    });
  });

  it('counts the old number of one that is renumbered because that was asked for, and shows it to people', async () => {
    policyMaps();
    site.map(FIVE);
    const allocator = site.allocator({ 16777300: ['cidr:198.51.3.0/24', 'reserved:world-ipv4'] });
    const argv = ['--map', site.pin, ...ROOT(), '--allocator-state', allocator, '--prefer', 'checkpoint'];
    const { stdout } = await site.run(Restore, [...argv, '--dry-run']);
    expect(stdout).toMatch(/^~ 198\.51\.3\.0\/24 → 16777300 .*; in 3 policy maps$/m);
    const report = await site.report(Restore, argv);
    expect(counts(report)['198.51.3.0/24']).toEqual(['update', 3]);
    expect(Object.values(counts(report)).filter(([, count]) => count !== undefined)).toHaveLength(1);
  });

  it('counts for one that the kernel does not take', async () => {
    policyMaps();
    site.map(FIVE.slice(0, 3));
    const full = `${site.pins}/full`;
    {
      using map = realTrie(site.kernel, { maxEntries: 2 });
      pinMap(map, full);
    }
    const report = await site.report(Restore, ['--map', site.pin, '--to', full, ...ROOT(), ...NONE()], 7);
    expect(report.summary).toMatchObject({ added: 2, failed: 1 });
    const failed = report.items.filter(({ done }) => !done);
    expect(failed.map(({ identity, policyMaps: count }) => (identity ?? 0) - (count ?? -1))).toEqual([16777220]);
    expect(report.items.filter(({ done, policyMaps: count }) => done && count !== undefined)).toEqual([]);
  });

  it('counts for what is not written because an agent owns the map', async () => {
    policyMaps();
    site.map(FIVE);
    const from = await taken();
    site.map(FIVE.slice(0, 3));
    using map = openPin(site.pin, { kernel: site.kernel, write: true });
    using _program = loadProgram(site.kernel, { fd: map.fd, keyBytes: map.info.keyBytes }, 'cil_test');
    const argv = ['--from', from, '--map', site.pin, '--all-items', ...ROOT(), ...NONE()];
    const report = await site.report(Restore, argv, 13, soon);
    expect(counts(report)).toMatchObject({
      '198.51.2.0/24': ['keep', undefined],
      '198.51.3.0/24': ['add', 3],
      '198.51.4.0/24': ['add', 4],
    });
  });

  it('--as-agent counts for what an agent would renumber', async () => {
    policyMaps();
    site.map([
      { prefix: '192.0.2.1/32', identity: 16777222 },
      { prefix: '192.0.2.2/32', identity: 16777222 },
    ]);
    const report = await site.report(Restore, ['--map', site.pin, '--as-agent', ...ROOT(), ...NONE()]);
    expect(counts(report)['192.0.2.2/32']).toEqual(['update', 2]);
  });

  it('says 0 where there are no policy maps, and null where one of them cannot be understood', async () => {
    site.map(FIVE);
    const allocator = site.allocator({ 16777300: ['cidr:198.51.3.0/24', 'reserved:world-ipv4'] });
    const argv = ['--map', site.pin, ...ROOT(), '--allocator-state', allocator];
    expect(counts(await site.report(Restore, argv, 7))['198.51.3.0/24']).toEqual(['conflict', 0]);
    policyMaps();
    {
      using map = realTrie(site.kernel, { keyBytes: 20, valueBytes: 4 });
      pinMap(map, `${site.pins}/tc/globals/cilium_policy_v2_00009`);
    }
    expect(counts(await site.report(Restore, argv, 7))['198.51.3.0/24']).toEqual(['conflict', null]);
    const { stdout } = await site.run(Restore, argv);
    expect(stdout).toContain('; in an unknown number of policy maps');
  });
});

describe('ipc release', () => {
  const restored = async (): Promise<void> => {
    policyMaps();
    // 16777230 stands in no entry: the checkpoint alone withholds it.
    const allocator = site.allocator({ 16777230: ['fqdn:example.org', 'reserved:world-ipv4'] });
    pinPolicyMap(site.kernel, site.pins, 9, [16777230]);
    site.map([...FIVE, { prefix: '192.0.2.0/24', identity: 16777224 }]);
    await site.report(Restore, ['--map', site.pin, '--allocator-state', allocator], 0, { now: AT });
  };
  const claims = (entries: typeof FIVE): string[] => {
    const lines = entries.map((entry) => JSON.stringify({ op: 'upsert', ...entry, source: 'generated' }));
    writeFileSync(site.file('claims'), `${lines.join('\n')}\n{"op":"synced"}\n`);
    return ['--claims', `ndjson:${site.file('claims')}`];
  };

  it('counts for every entry that goes and for every number that is freed', async () => {
    await restored();
    site.map([...FIVE.filter(({ identity }) => identity !== 16777221), { prefix: '192.0.2.0/24', identity: 16777224 }]);
    const kept = [...FIVE.slice(0, 1), ...FIVE.slice(4)];
    const planned = await site.report(Release, [...ROOT(), ...claims(kept), '--dry-run'], 0, soon);
    const report = await site.report(Release, [...ROOT(), ...claims(kept)], 0, soon);
    for (const each of [planned, report]) {
      expect(counts(each)).toEqual({
        '198.51.0.0/24': ['keep', undefined],
        '198.51.1.0/24': ['skip', 1],
        '198.51.2.0/24': ['delete', 2],
        '198.51.3.0/24': ['delete', 3],
        '198.51.4.0/24': ['keep', undefined],
        // Its number stays, another prefix has it; that the entry goes is told all the same.
        '192.0.2.0/24': ['delete', 4],
      });
      expect(each.freed).toEqual([
        { identity: 16777221, policyMaps: 1 },
        { identity: 16777222, policyMaps: 2 },
        { identity: 16777223, policyMaps: 3 },
        { identity: 16777230, policyMaps: 1 },
      ]);
      expect(each.summary.freed).toBe(4);
      expect(each.warnings?.join()).toContain('16777230 (1)');
    }
  });

  it('frees nothing more when it is called again, though the map has changed since', async () => {
    await restored();
    await site.report(Release, [...ROOT(), ...claims(FIVE)], 0, soon);
    const text = site.stateText;
    site.map([]);
    const again = await site.report(Release, [...ROOT(), ...claims([]), '--now'], 0, { now: AT + 90_000 });
    expect(again).toMatchObject({ changed: false, freed: [], items: [], released: new Date(soon.now).toISOString() });
    expect(site.stateText).toBe(text);
  });
});

describe('ipc diff', () => {
  it('counts for what was renumbered or has gone', async () => {
    policyMaps();
    site.map(FIVE);
    const from = await taken();
    site.map([{ prefix: '198.51.3.0/24', identity: 16777999 }, ...FIVE.slice(0, 3)]);
    const argv = [from, site.pin, ...ROOT()];
    const report = await site.report(Diff, argv, 10, soon);
    const found = report.items as unknown as { check: string; prefix: string; policyMaps?: number }[];
    expect(found.map(({ check, prefix, policyMaps: count }) => [check, prefix, count])).toEqual([
      ['renumbered', '198.51.3.0/24', 3],
      ['removed', '198.51.4.0/24', 4],
    ]);
    expect((await site.run(Diff, argv, soon)).stdout).toContain('in 3 policy maps');
  });
});
