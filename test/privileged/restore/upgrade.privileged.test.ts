/** The story of docs/runbooks/upgrade.md: what an upgrade loses, and what brings it back. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import Diff from '../../../src/commands/diff.ts';
import Release from '../../../src/commands/release.ts';
import Restore from '../../../src/commands/restore.ts';
import Snapshot from '../../../src/commands/snapshot.ts';
import { bpfDescriptors } from '../../support/real-kernel.ts';
import { Site } from '../../support/restore-site.ts';

const AT = Date.UTC(2026, 0, 2, 3);
const FQDN = ['fqdn:example.org', 'reserved:world-ipv4'];
const GROUP = ['cidrgroup:partners', 'reserved:world-ipv4'];
const LABELS = {
  16777220: FQDN,
  16777221: ['cidr:198.51.100.0/24', 'reserved:world-ipv4'],
  16777222: GROUP,
};
const LOCAL = [
  { prefix: '192.0.2.1/32', identity: 16777220 },
  { prefix: '192.0.2.2/32', identity: 16777220 },
  { prefix: '198.51.100.0/24', identity: 16777221 },
  { prefix: '203.0.113.0/25', identity: 16777222 },
  { prefix: '203.0.113.128/25', identity: 16777222 },
];
const POD = { prefix: '10.0.0.7/32', identity: 4711, tunnel: '192.0.2.10' };
const INGRESS = { prefix: '10.244.2.5/32', identity: 8 };
const NUMBERS = Object.fromEntries([...LOCAL, INGRESS].map(({ prefix, identity }) => [prefix, identity]));

let site: Site;
let before: number;
beforeEach(async () => {
  before = bpfDescriptors();
  site = new Site('upgrade');
  site.map([...LOCAL, POD, INGRESS]);
  const { exitCode, stderr } = await site.run(
    Snapshot,
    [snapshot(), '--map', site.pin, '--allocator-state', site.allocator(LABELS)],
    { now: AT },
  );
  expect(exitCode, stderr).toBe(0);
});
afterEach(() => {
  site[Symbol.dispose]();
  expect(bpfDescriptors()).toBe(before);
});

const snapshot = (): string => site.file('before.ndjson');
const soon = { now: AT + 60_000 };

it('checkpoint lost: the agent would renumber; what was handed over before it starts prevents it', async () => {
  rmSync(site.allocator('null'));
  const foretold = await site.report(Restore, ['--map', site.pin, '--as-agent'], 0, soon);
  expect(foretold.summary).toMatchObject({ renumbered: 2 });
  const file = site.file('local_allocator_state.json');
  const argv = ['--from', snapshot(), '--map', site.pin, '--hand-over', '--write-allocator-state', file];
  await site.report(Restore, argv, 0, soon);
  const healed = await site.report(Restore, ['--map', site.pin, '--as-agent', '--allocator-state', file], 0, soon);
  expect(healed.summary).toMatchObject({ renumbered: 0, lost: 0 });
});

it('map made anew by the agent: the difference is seen, what is missing comes back, claims arrive, the rest goes', async () => {
  const gone = LOCAL.at(-1) ?? POD;
  site.map([POD, { prefix: '192.0.2.1/32', identity: 16777999 }, INGRESS]);
  const { exitCode, stdout } = await site.run(Diff, [snapshot(), site.pin, '--json'], soon);
  expect(exitCode, stdout).toBe(10);
  const restored = await site.report(Restore, ['--from', snapshot(), '--map', site.pin], 7, soon);
  expect(restored.summary).toMatchObject({ added: 4, conflicts: 1 });
  const claimed = LOCAL.slice(1, -1).map(({ prefix, identity }) =>
    JSON.stringify({ op: 'upsert', prefix, identity, source: 'generated' }),
  );
  writeFileSync(site.file('claims'), `${claimed.join('\n')}\n{"op":"synced"}\n`);
  const released = await site.report(Release, ['--claims', `ndjson:${site.file('claims')}`], 0, { now: AT + 120_000 });
  expect(released.summary).toMatchObject({ claimed: 3, deleted: 1 });
  expect(await site.numbers()).toEqual({
    ...NUMBERS,
    [POD.prefix]: POD.identity,
    '192.0.2.1/32': 16777999,
    [gone.prefix]: undefined,
  });
});

it('from the first layout to the second: the new map has every number, and a second run finds nothing to do', async () => {
  const old = `${site.pins}/cilium_ipcache`;
  site.map([...LOCAL, POD, INGRESS], { pin: old, layout: '1.16' });
  rmSync(site.pin);
  const argv = ['--map', old, '--to', site.pin, '--allocator-state', site.allocator(LABELS)];
  expect(await site.report(Restore, argv, 0, soon)).toMatchObject({ changed: true });
  expect(await site.numbers()).toEqual(NUMBERS);
  expect(await site.report(Restore, argv, 0, soon)).toMatchObject({ changed: false, summary: { kept: 6, known: 5 } });
});

it('map lost, as after a reboot: numbers, labels and ingress come from the snapshot', async () => {
  rmSync(site.pin);
  rmSync(site.allocator('null'));
  await site.report(Restore, ['--from', snapshot()], 0, soon);
  expect(await site.numbers()).toEqual(NUMBERS);
  expect(site.state.identities.map(({ labels }) => labels)).toEqual(Object.values(LABELS));
  expect(site.state.ingress).toEqual([INGRESS.prefix]);
});

it('both partly damaged: what is left of the map keeps its numbers, the damaged file is moved aside only when told', async () => {
  const damaged = '[{"id":16777220,"labels":{"exam';
  const file = site.allocator(damaged);
  site.map(LOCAL.slice(0, 3));
  const argv = ['--from', snapshot(), '--map', site.pin, '--allocator-state', file];
  const report = await site.report(Restore, argv, 0, soon);
  expect(report.summary).toMatchObject({ kept: 3, added: 3, known: 5 });
  expect(readFileSync(file, 'utf8')).toBe(damaged);
  await site.report(Restore, [...argv, '--hand-over', '--write-allocator-state', file], 0, soon);
  expect(readFileSync(`${file}.damaged`, 'utf8')).toBe(damaged);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveLength(3);
  expect(existsSync(`${file}.damaged.2`)).toBe(false);
});
