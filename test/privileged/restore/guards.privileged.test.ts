/** Which snapshots are put where: each refusal changes nothing, and what overrides it. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import Restore from '../../../src/commands/restore.ts';
import Snapshot from '../../../src/commands/snapshot.ts';
import { bpfDescriptors } from '../../support/real-kernel.ts';
import { Site } from '../../support/restore-site.ts';
import { errorOf } from '../../support/run-command.ts';

const AT = Date.UTC(2026, 0, 2, 3);
const HOUR = 3_600_000;
const LOCAL = { prefix: '198.51.100.0/24', identity: 16777221 };
const GLOBAL = { prefix: '10.0.0.9/32', identity: 4711 };
const THERE = { prefix: '203.0.113.0/24', identity: 16777222 };

let site: Site;
let before: number;
beforeEach(async () => {
  before = bpfDescriptors();
  site = new Site('guards');
  site.map([LOCAL, GLOBAL]);
  const allocator = site.allocator({ 16777221: ['cidr:198.51.100.0/24', 'reserved:world-ipv4'] });
  const argv = [snapshot(), '--map', site.pin, '--allocator-state', allocator];
  const { exitCode, stderr } = await site.run(Snapshot, argv, { now: AT });
  expect(exitCode, stderr).toBe(0);
  site.map([THERE]);
});
afterEach(() => {
  site[Symbol.dispose]();
  expect(bpfDescriptors()).toBe(before);
});

const snapshot = (): string => site.file('before.ndjson');
const other = (): string => `${site.pins}/other`;

/** Changes the first line, and the sum at the end with it. */
function editHeader(edit: (header: Record<string, unknown>) => void): void {
  const lines = readFileSync(snapshot(), 'utf8').trimEnd().split('\n');
  const header = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
  edit(header);
  const body = `${[JSON.stringify(header), ...lines.slice(1, -1)].join('\n')}\n`;
  const end = { ...JSON.parse(lines.at(-1) ?? ''), sha256: createHash('sha256').update(body).digest('hex') };
  writeFileSync(snapshot(), `${body}${JSON.stringify(end)}\n`);
}

/** Restores from the snapshot at so many milliseconds after it was taken. @returns the code of the error, or nothing */
async function outcome(argv: readonly string[], afterMs = 60_000): Promise<string | undefined> {
  const map = existsSync(site.pin) ? await site.numbers() : undefined;
  const id = map && site.mapId();
  const words = ['--from', snapshot(), ...(argv.includes('--to') ? [] : ['--map', site.pin]), '--json', ...argv];
  const { exitCode, stdout, stderr } = await site.run(Restore, words, { now: AT + afterMs });
  if (exitCode === 0) {
    expect(JSON.parse(stdout).kind).toBe('restore');
    return undefined;
  }
  expect([exitCode, stdout]).toEqual([13, '']);
  expect(site.stateText).toBeUndefined();
  expect(existsSync(other())).toBe(false);
  expect(existsSync(site.pin) ? await site.numbers() : undefined).toEqual(map);
  if (id !== undefined) expect(site.mapId()).toBe(id);
  return String(errorOf({ stderr }).code);
}

describe('a snapshot of another machine', () => {
  const foreign = (): void => editHeader((header) => Object.assign(header, { machine: 'a'.repeat(32), node: 'n2' }));

  it.each([
    ['into the map that is there', []],
    ['as a plan', ['--dry-run']],
    ['into a new map in its place', ['--recreate']],
  ])('%s is refused without --foreign', async (_, argv) => {
    foreign();
    expect(await outcome(argv)).toBe('SNAPSHOT_FOREIGN');
    expect(await outcome([...argv, '--foreign'])).toBeUndefined();
  });

  it('is refused for a map that is to be made, too, and names the machine', async () => {
    foreign();
    expect(await outcome(['--to', other()])).toBe('SNAPSHOT_FOREIGN');
    const { stderr } = await site.run(Restore, ['--from', snapshot(), '--to', other()], { now: AT });
    expect(stderr).toContain('(n2)');
    expect(stderr).toContain('--foreign');
    expect(await outcome(['--to', other(), '--foreign'])).toBeUndefined();
    expect(await site.numbers(other())).toEqual({ [LOCAL.prefix]: LOCAL.identity });
  });

  it('is told by the machine id, by the name where there is none, and is one where there is neither', async () => {
    editHeader((header) => Object.assign(header, { node: 'renamed' }));
    expect(await outcome(['--dry-run'])).toBeUndefined();
    editHeader((header) => Object.assign(header, { machine: undefined }));
    expect(await outcome(['--dry-run'])).toBe('SNAPSHOT_FOREIGN');
    editHeader((header) => Object.assign(header, { node: hostname() }));
    expect(await outcome(['--dry-run'])).toBeUndefined();
    editHeader((header) => Object.assign(header, { node: undefined }));
    expect(await outcome(['--dry-run'])).toBe('SNAPSHOT_FOREIGN');
  });

  it('may still be too old', async () => {
    foreign();
    expect(await outcome(['--foreign'], 2 * HOUR)).toBe('SNAPSHOT_OLD');
    expect(await outcome(['--foreign', '--max-age', '2h'], 2 * HOUR)).toBeUndefined();
  });

  it('may be looked at with --as-agent, which writes nothing', async () => {
    foreign();
    expect(await outcome(['--as-agent'])).toBeUndefined();
    expect(site.stateText).toBeUndefined();
  });
});

describe('an old snapshot', () => {
  it.each([
    ['the map that is there', []],
    ['a new map in its place', ['--recreate']],
  ])('is refused for %s once it is older than --max-age', async (_, argv) => {
    expect(await outcome(argv, HOUR + 1)).toBe('SNAPSHOT_OLD');
    expect(await outcome([...argv, '--max-age', '59m'], HOUR)).toBe('SNAPSHOT_OLD');
    expect(await outcome([...argv, '--max-age', '60d'], 61 * 24 * HOUR)).toBe('SNAPSHOT_OLD');
    expect(await outcome([...argv, '--max-age', '60d'], 59 * 24 * HOUR)).toBeUndefined();
  });

  it('is as good as any for an hour', async () => {
    expect(await outcome([], HOUR)).toBeUndefined();
    expect(await site.numbers()).toEqual({ [LOCAL.prefix]: LOCAL.identity, [THERE.prefix]: THERE.identity });
  });

  it('is as good as any for ever where there is no map', async () => {
    expect(await outcome(['--to', other()], 1000 * HOUR)).toBeUndefined();
    expect(await site.numbers(other())).toEqual({ [LOCAL.prefix]: LOCAL.identity });
  });

  it('makes the map anew after a reboot', async () => {
    rmSync(site.pin);
    expect(await outcome([], 1000 * HOUR)).toBeUndefined();
    expect(await site.numbers()).toEqual({ [LOCAL.prefix]: LOCAL.identity });
  });
});

describe('all of a snapshot', () => {
  it.each([
    ['the map that is there', ['--all']],
    ['a new map in its place', ['--all', '--recreate']],
  ])('is refused for %s, whatever else is said', async (_, argv) => {
    expect(await outcome(argv)).toBe('SNAPSHOT_ALL');
    expect(await outcome([...argv, '--foreign', '--max-age', '100h', '--dry-run'])).toBe('SNAPSHOT_ALL');
  });

  it('goes into a map that is made for it', async () => {
    expect(await outcome(['--all', '--to', other()])).toBeUndefined();
    expect(await site.numbers(other())).toEqual({ [LOCAL.prefix]: LOCAL.identity, [GLOBAL.prefix]: GLOBAL.identity });
  });
});

it('a redacted snapshot is refused, and --foreign does not help', async () => {
  editHeader((header) => Object.assign(header, { redacted: true }));
  expect(await outcome(['--foreign'])).toBe('SNAPSHOT_REDACTED');
});
