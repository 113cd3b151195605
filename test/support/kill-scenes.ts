/** What restore and release are killed at, and what must hold whenever that was. */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import Release from '../../src/commands/release.ts';
import Restore from '../../src/commands/restore.ts';
import Snapshot from '../../src/commands/snapshot.ts';
import { openPin } from '../../src/lib/bpf/open-pin.ts';
import { readCheckpoint } from '../../src/lib/state/read-checkpoint.ts';
import { entryBytes } from './pinned-ipcache.ts';
import type { Site } from './restore-site.ts';

type Numbers = Readonly<Record<string, number>>;

const LOCAL = Array.from({ length: 24 }, (_, i) => ({ prefix: `198.51.${i}.0/24`, identity: 16777220 + i }));
const REST = [
  { prefix: '10.0.0.7/32', identity: 4711, tunnel: '192.0.2.10' },
  { prefix: '10.244.2.5/32', identity: 8 },
];
const ENTRIES = [...LOCAL, ...REST];
const HALF = [...LOCAL.slice(0, 12), ...REST];
const LABELS = Object.fromEntries(
  LOCAL.map(({ prefix, identity }) => [identity, [`cidr:${prefix}`, 'reserved:world-ipv4']]),
);
const numbersOf = (entries: typeof REST): Numbers =>
  Object.fromEntries(entries.map(({ prefix, identity }) => [prefix, identity]));
const ALL = numbersOf(ENTRIES);
const DAMAGED = '[{"id":16777220,"labels":{"exam';

export interface Scene {
  readonly name: string;
  readonly command: unknown;
  /** Words behind the command's name. */
  readonly argv: (site: Site) => readonly string[];
  /** Puts map and state directory where the command finds them. */
  readonly prepare: (site: Site) => void;
  /** The pin that is written. */
  readonly pin: (site: Site) => string;
  /** Holds at any moment. @param numbers of the entries; absent: nothing is pinned */
  readonly holds: (numbers: Numbers | undefined, site: Site) => void;
  /** Holds once the command was run again to its end. */
  readonly ends: (numbers: Numbers, site: Site) => void;
}

const moved = (site: Site): string => `${site.pins}/moved`;
const labelled = (site: Site): string => site.file('labels.json');
const handed = (site: Site): string => site.file('handed.json');
const none = (site: Site): string[] => ['--allocator-state', site.file('none.json')];
const onPin = ({ pin }: Site): string => pin;

/** Makes the files that scenes read: a snapshot, a state to release, claims. */
export async function makeFiles(site: Site): Promise<void> {
  cpSync(site.allocator(LABELS), labelled(site));
  writeFileSync(site.file('none.json'), 'null\n');
  site.map(ENTRIES);
  const snapshot = [site.file('all.ndjson'), '--map', site.pin, '--allocator-state', labelled(site)];
  const taken = await site.run(Snapshot, snapshot, { now: Date.now() });
  expect(taken.exitCode, taken.stderr).toBe(0);
  await site.report(Restore, ['--map', site.pin, ...none(site)]);
  cpSync(site.stateDir, site.file('restored'), { recursive: true });
  const claims = HALF.map((entry) =>
    JSON.stringify({ op: 'upsert', ...entry, tunnel: undefined, source: 'generated' }),
  );
  writeFileSync(site.file('claims.ndjson'), `${claims.join('\n')}\n{"op":"synced"}\n`);
}

function anew(site: Site, entries = ENTRIES): void {
  rmSync(site.stateDir, { recursive: true, force: true });
  for (const name of readdirSync(site.pins)) if (join(site.pins, name) !== site.pin) rmSync(join(site.pins, name));
  site.map(entries);
}

function refill(site: Site): void {
  rmSync(site.stateDir, { recursive: true, force: true });
  cpSync(site.file('restored'), site.stateDir, { recursive: true });
  using map = openPin(site.pin, { kernel: site.kernel, write: true });
  for (const entry of ENTRIES) {
    const { key, value } = entryBytes('v2', entry);
    map.update(key, value);
  }
}

const SAME = {
  holds: (numbers?: Numbers) => expect(numbers).toEqual(ALL),
  ends: (numbers: Numbers) => expect(numbers).toEqual(ALL),
};

export const SCENES: readonly Scene[] = [
  {
    name: 'restore in place',
    command: Restore,
    argv: (site) => ['--map', site.pin, ...none(site)],
    prepare: anew,
    pin: onPin,
    ...SAME,
  },
  {
    name: 'restore --to',
    command: Restore,
    argv: (site) => ['--map', site.pin, '--to', moved(site), '--all', ...none(site)],
    prepare: anew,
    pin: moved,
    ...SAME,
    // The pin appears with the whole map or not at all.
    holds: (numbers) => expect([undefined, ALL]).toContainEqual(numbers),
  },
  {
    name: 'restore --recreate',
    command: Restore,
    argv: (site) => ['--map', site.pin, '--recreate', ...none(site)],
    prepare: anew,
    pin: onPin,
    ...SAME,
    ends(numbers, site) {
      expect(numbers).toEqual(ALL);
      expect(existsSync(`${site.pin}_pending`)).toBe(false);
    },
  },
  {
    name: 'restore --from',
    command: Restore,
    argv: (site) => ['--map', site.pin, '--from', site.file('all.ndjson'), ...none(site)],
    prepare: (site) => anew(site, HALF),
    pin: onPin,
    ...SAME,
    holds(numbers = {}) {
      expect(numbers).toMatchObject(numbersOf(HALF));
      expect(ALL).toMatchObject(numbers);
    },
  },
  {
    name: 'restore --hand-over',
    command: Restore,
    argv: (site) => [
      ...['--map', site.pin, '--allocator-state', labelled(site), '--hand-over'],
      ...['--write-allocator-state', handed(site)],
    ],
    prepare(site) {
      anew(site);
      for (const name of readdirSync(site.directory)) if (name.startsWith('handed')) rmSync(site.file(name));
      writeFileSync(handed(site), DAMAGED);
    },
    pin: onPin,
    holds(numbers, site) {
      expect(numbers).toEqual(ALL);
      // What could not be read is never lost, and the file is the old one, a whole new one, or not there.
      const texts = readdirSync(site.directory).map((name) => (name.startsWith('handed') ? text(site, name) : ''));
      expect(texts).toContain(DAMAGED);
      const now = existsSync(handed(site)) ? text(site, 'handed.json') : DAMAGED;
      if (now !== DAMAGED) expect(JSON.parse(now)).toHaveLength(LOCAL.length);
    },
    ends(_, site) {
      expect(JSON.parse(text(site, 'handed.json'))).toHaveLength(LOCAL.length);
      expect(readCheckpoint(site.stateDir)?.placeholders).toEqual([]);
    },
  },
  {
    name: 'release',
    command: Release,
    argv: (site) => ['--map', site.pin, '--now', '--claims', `ndjson:${site.file('claims.ndjson')}`],
    prepare: refill,
    pin: onPin,
    holds(numbers = {}, site) {
      expect(numbers).toMatchObject(numbersOf(HALF));
      expect(ALL).toMatchObject(numbers);
      // A number is never free while an entry has it.
      const remembered = new Set(readCheckpoint(site.stateDir)?.identities.map(({ identity }) => identity));
      for (const identity of Object.values(numbers)) if (identity > 0xffffff) expect(remembered).toContain(identity);
    },
    ends(numbers, site) {
      expect(numbers).toEqual(numbersOf(HALF));
      expect(readCheckpoint(site.stateDir)?.placeholders).toEqual([]);
    },
  },
];

function text(site: Site, name: string): string {
  return readFileSync(site.file(name), 'utf8');
}
