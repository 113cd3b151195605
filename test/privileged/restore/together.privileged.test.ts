/** Restore with others at work: a program that looks addresses up, another ipc, an agent that replaces the pin. */
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { createServer } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import Release from '../../../src/commands/release.ts';
import Restore from '../../../src/commands/restore.ts';
import Snapshot from '../../../src/commands/snapshot.ts';
import { openPin } from '../../../src/lib/bpf/open-pin.ts';
import { encodeKey } from '../../../src/lib/ipcache/key.ts';
import { layoutNamed } from '../../../src/lib/ipcache/layout.ts';
import { parsePrefix } from '../../../src/lib/net/prefix.ts';
import { lockState } from '../../../src/lib/state/lock.ts';
import { loadProgram } from '../../support/load-program.ts';
import { bpfDescriptors } from '../../support/real-kernel.ts';
import { Site } from '../../support/restore-site.ts';
import { errorOf } from '../../support/run-command.ts';

let site: Site;
let before: number;
beforeEach(() => {
  before = bpfDescriptors();
  site = new Site('together');
});
afterEach(() => {
  site[Symbol.dispose]();
  expect(bpfDescriptors()).toBe(before);
});

const ENTRIES = [
  { prefix: '10.0.0.0/8', identity: 16777220 },
  { prefix: '10.1.0.0/16', identity: 16777221 },
  { prefix: '10.1.2.3/32', identity: 16777222 },
];
const none = (): string[] => ['--allocator-state', site.allocator('null')];
const key = (address: string): Uint8Array => encodeKey(layoutNamed('v2'), parsePrefix(address));

/** A program that holds the map which is pinned there now, as the datapath would. */
function programOn(pin: string, name = 'ipc_test') {
  using map = openPin(pin, { kernel: site.kernel, write: true });
  return loadProgram(site.kernel, { fd: map.fd, keyBytes: map.info.keyBytes }, name);
}

it('a program that looks addresses up in the restored map sees the numbers that they had', async () => {
  site.map(ENTRIES);
  const moved = `${site.pins}/moved`;
  await site.report(Restore, ['--map', site.pin, '--to', moved, ...none()]);
  using program = programOn(moved);
  expect(['10.9.9.9', '10.1.9.9', '10.1.2.3', '192.0.2.1'].map((address) => program.identityOf(key(address)))).toEqual([
    16777220, 16777221, 16777222, 0,
  ]);
});

it('after --recreate a loaded program still sees the old map, so it is refused unless programs will reload', async () => {
  site.map(ENTRIES);
  using program = programOn(site.pin);
  expect((await site.run(Restore, ['--map', site.pin, '--recreate', ...none()])).exitCode).toBe(13);
  await site.report(Restore, ['--map', site.pin, '--recreate', '--programs-will-reload', ...none()]);
  using map = openPin(site.pin, { kernel: site.kernel, write: true });
  expect(map.delete(key('10.1.2.3'))).toBe(true);
  expect(program.identityOf(key('10.1.2.3'))).toBe(16777222);
  using reloaded = programOn(site.pin);
  expect(reloaded.identityOf(key('10.1.2.3'))).toBe(16777221);
});

it('a map that programs of an agent hold is read and remembered, and written only when told to', async () => {
  site.map(ENTRIES);
  using _program = programOn(site.pin, 'cil_test');
  const kept = await site.report(Restore, ['--map', site.pin, ...none()]);
  expect(kept).toMatchObject({ changed: false, map: { owner: 'agent' } });
  expect(site.state.placeholders).toHaveLength(3);
  expect((await site.run(Release, ['--now'])).exitCode).toBe(13);
  const allocator = site.allocator({ 16777300: ['cidr:10.1.0.0/16', 'reserved:world-ipv4'] });
  const argv = ['--map', site.pin, '--prefer', 'checkpoint', '--allocator-state', allocator];
  await site.report(Restore, argv, 13);
  expect((await site.numbers())['10.1.0.0/16']).toBe(16777221);
  await site.report(Restore, [...argv, '--override-owner']);
  expect((await site.numbers())['10.1.0.0/16']).toBe(16777300);
});

it('a new map is not made beside an agent that answers, unless told to; beside one that left its socket it is', async () => {
  site.map(ENTRIES);
  const socket = site.file('cilium.sock');
  const env = { CILIUM_SOCK: socket };
  const moved = `${site.pins}/below/moved`;
  const argv = ['--map', site.pin, '--to', moved, ...none()];
  const agent = createServer((client) => client.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'));
  await once(agent.listen(socket), 'listening');
  try {
    for (const more of [['--dry-run'], [], ['--hand-over'], ['--hand-over', '--override-owner']]) {
      const refused = await site.run(Restore, [...argv, ...more, '--json'], { env });
      expect([refused.exitCode, errorOf(refused).code]).toEqual([13, 'OWNED_BY_AGENT']);
    }
    expect(existsSync(`${site.pins}/below`)).toBe(false);
    expect(site.stateText).toBeUndefined();
    await site.report(Restore, [...argv, '--override-owner'], 0, { env });
  } finally {
    agent.close();
  }
  await site.report(Restore, [...argv, '--hand-over'], 0, { env });
  expect(Object.keys(await site.numbers(moved))).toHaveLength(3);
});

it('a map without a pin is read by its id', async () => {
  site.map(ENTRIES);
  const argv = ['--map', `id:${site.mapId()}`, '--to', `${site.pins}/moved`, ...none()];
  const { exitCode, stdout } = await site.run(Restore, [...argv, '--dry-run']);
  expect(exitCode).toBe(0);
  expect(stdout).toContain(`from map id ${site.mapId()},`);
  await site.report(Restore, argv);
  expect(await site.numbers(`${site.pins}/moved`)).toEqual(await site.numbers());
  expect((await site.run(Restore, [...argv.slice(0, 2), ...none()])).exitCode).toBe(2);
});

it('a second ipc is locked out of the state directory and of the pin, and names the first', async () => {
  site.map(ENTRIES);
  {
    using _lock = lockState({ directory: site.stateDir, pinDirectory: site.pins });
    expect((await site.run(Restore, ['--map', site.pin, ...none()])).exitCode).toBe(11);
    const elsewhere = ['--state-dir', site.file('other'), '--map', site.pin, ...none()];
    const { exitCode, stderr } = await site.run(Restore, elsewhere.slice(2));
    expect(exitCode).toBe(11);
    expect(stderr).toContain(`pid ${process.pid}`);
  }
  expect((await site.run(Restore, ['--map', site.pin, ...none()])).exitCode).toBe(0);
});

it('a pin that is replaced while it is restored is noticed, and nothing is remembered of the wrong map', async () => {
  const other = `${site.pins}/other`;
  site.map(ENTRIES.slice(0, 1), { pin: other });
  site.map(ENTRIES);
  const allocator = site.allocator('null');
  // The last thing that is read before the map is written or remembered.
  const done = site.run(Restore, ['--map', site.pin, '--allocator-state', allocator, '--json']);
  renameSync(other, site.pin);
  const { exitCode, stderr } = await done;
  if (exitCode === 0) expect(site.state.map?.id).toBe(site.mapId());
  else {
    expect(exitCode).toBe(7);
    expect(stderr).toContain('MAP_REPLACED');
    expect(site.stateText).toBeUndefined();
  }
});

it('a pin that is replaced while it is released is noticed, and no number becomes free', async () => {
  const other = `${site.pins}/other`;
  site.map(ENTRIES, { pin: other });
  site.map(ENTRIES);
  await site.report(Restore, ['--map', site.pin, ...none()]);
  const text = site.stateText;
  const claims = new PassThrough();
  const argv = ['--now', '--claims', 'ndjson:-', '--json'];
  const done = site.run(Release, argv, { stdinStream: claims });
  claims.write('{"op":"upsert","prefix":"192.0.2.0/24","identity":16777300,"source":"generated"}\n');
  await new Promise((resolve) => setTimeout(resolve, 500));
  renameSync(other, site.pin);
  claims.end('{"op":"synced"}\n');
  const { exitCode, stderr, stdout } = await done;
  expect([exitCode, stdout]).toEqual([7, '']);
  expect(errorOf({ stderr })).toMatchObject({ code: 'MAP_REPLACED', path: site.pin });
  expect(site.stateText).toBe(text);
  expect(Object.keys(await site.numbers())).toHaveLength(3);
  expect(await site.report(Release, ['--now'])).toMatchObject({ summary: { unknown: 3, freed: 0 } });
});

it('--hand-over adds to the map of an agent that has stopped, whose programs still hold it', async () => {
  site.map(ENTRIES);
  const file = site.file('before.ndjson');
  const taken = await site.run(Snapshot, [file, '--map', site.pin, '--no-labels'], { now: Date.UTC(2026, 0, 2, 3) });
  expect(taken.exitCode, taken.stderr).toBe(0);
  site.map(ENTRIES.slice(1));
  using program = programOn(site.pin, 'cil_test');
  const argv = ['--from', file, '--map', site.pin, ...none()];
  await site.report(Restore, argv, 13);
  expect(program.identityOf(key('10.9.9.9'))).toBe(0);
  await site.report(Restore, [...argv, '--hand-over']);
  // The programs see it at once: it is the map that they hold.
  expect(program.identityOf(key('10.9.9.9'))).toBe(16777220);
  expect(site.state.placeholders).toEqual([]);
});

it('--hand-over writes the checkpoint of the agent that starts next, and only if that loses nothing', async () => {
  site.map([...ENTRIES, { prefix: '198.51.100.0/24', identity: 16777230 }]);
  const known = { 16777220: ['fqdn:example.org', 'reserved:world-ipv4'] };
  const allocator = site.allocator(known);
  const file = site.file('written.json');
  const argv = ['--map', site.pin, '--allocator-state', allocator, '--hand-over', '--write-allocator-state', file];
  const report = await site.report(Restore, argv);
  expect(report.allocatorState).toMatchObject({ identities: 1, added: 1 });
  expect(readFileSync(file, 'utf8')).toBe(readFileSync(allocator, 'utf8').replace('{"example.org"', '{"example.org"'));
  expect(site.state).toMatchObject({ placeholders: [], restored: { released: expect.any(String) } });
  await site.report(Restore, [...argv, '--include-guessed']);
  expect(JSON.parse(readFileSync(file, 'utf8')).map(({ id }: { id: number }) => id)).toEqual([
    16777220, 16777221, 16777222, 16777230,
  ]);
  // What the file has by now is more than what is known without guesses.
  expect((await site.run(Restore, argv)).exitCode).toBe(13);
});
