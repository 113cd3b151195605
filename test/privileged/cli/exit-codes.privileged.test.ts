/** Exit statuses that depend on the kernel and on permissions. Add the line of each new command that opens a map to READERS. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pinMap } from '../../../src/lib/bpf/pin.ts';
import { BPF_MAP_TYPE_HASH } from '../../../src/lib/bpf/uapi.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { type ExitRow, itExits, rowName } from '../../support/exit-table.ts';
import { type InstalledProgram, installProgram } from '../../support/installed-program.ts';
import { pinnedIpcache } from '../../support/pinned-ipcache.ts';
import { type PinDirectory, pinDirectory, realTrie } from '../../support/real-kernel.ts';

const NOBODY = 65534;
const PINS = '/sys/fs/bpf/ipc-test-exits';
const scratch = mkdtempSync(path.join(tmpdir(), 'ipc-exits-'));
const plainFile = path.join(scratch, 'file');

/** A command line that reads the map, without --map, and what an empty map means to it. */
const READERS: readonly { readonly argv: readonly string[]; readonly onEmpty: number; readonly prints?: boolean }[] = [
  { argv: ['dump'], onEmpty: 0 },
  { argv: ['dump', '--count'], onEmpty: 0 },
  { argv: ['get', '10.0.0.1'], onEmpty: 12, prints: true },
  { argv: ['snapshot', '--dry-run', '--no-labels', '/tmp/never-written'], onEmpty: 0 },
];

const kernel = new LinuxKernel();
let program: InstalledProgram;
let directory: PinDirectory;
let disposables: Disposable[] = [];

beforeAll(() => {
  program = installProgram();
  directory = pinDirectory('exits');
  expect(directory.path).toBe(PINS);
  writeFileSync(plainFile, 'x');
  mkdirSync(`${PINS}/directory`);
  const good = pinnedIpcache(kernel, `${PINS}/good`, [{ prefix: '10.0.0.0/8', identity: 2 }]);
  const empty = pinnedIpcache(kernel, `${PINS}/empty`, []);
  const hash = realTrie(kernel, { type: BPF_MAP_TYPE_HASH, keyBytes: 4, valueBytes: 4, flags: 0, name: 'ipc_hash' });
  const narrow = realTrie(kernel, { keyBytes: 8, valueBytes: 4, name: 'ipc_narrow' });
  pinMap(hash, `${PINS}/hash`);
  pinMap(narrow, `${PINS}/narrow`);
  const twins = [realTrie(kernel, { name: 'ipc_exit_twin' }), realTrie(kernel, { name: 'ipc_exit_twin' })];
  disposables = [good, empty, hash, narrow, ...twins];
});
afterAll(() => {
  for (const disposable of disposables) disposable[Symbol.dispose]();
  directory[Symbol.dispose]();
  program[Symbol.dispose]();
  rmSync(scratch, { recursive: true });
});

function reading({ argv, onEmpty, prints = false }: (typeof READERS)[number]): ExitRow[] {
  const on = (map: string): string[] => [...argv, '--map', map];
  return [
    { argv: on(`${PINS}/good`), exit: 0, when: 'the map is one' },
    { argv: on(`${PINS}/empty`), exit: onEmpty, prints, when: 'the map is empty' },
    { argv: on(`${PINS}/nothing`), exit: 3, says: /no such pin/, when: 'there is no such pin' },
    { argv: on(`${PINS}/no/where`), exit: 3, when: 'there is no such directory' },
    { argv: on(plainFile), exit: 3, says: /not a bpf filesystem/, when: 'the pin is a plain file' },
    { argv: on(`${PINS}/directory`), exit: 3, when: 'the pin is a directory' },
    { argv: on(`${PINS}/hash`), exit: 4, says: /hash/, when: 'op 28 the map is a hash' },
    { argv: on(`${PINS}/narrow`), exit: 4, says: /8/, when: 'op 28 the trie has other sizes' },
    { argv: on('id:4294967295'), exit: 3, when: 'there is no such id' },
    { argv: on('id:x'), exit: 2, when: 'the id is no number' },
    { argv: on('name:ipc_no_such'), exit: 3, when: 'there is no such name' },
    { argv: on('name:ipc_exit_twin'), exit: 4, when: 'two maps have the name' },
    { argv: on(`${PINS}/good`), uid: NOBODY, exit: 5, says: /CAP_/, when: 'op 50 the user may not read the pin' },
    { argv: on('id:1'), uid: NOBODY, exit: 5, says: /CAP_SYS_ADMIN/, when: 'op 50 the user may not open ids' },
    {
      argv: [...argv, '--bpffs', scratch],
      exit: 3,
      says: /not a bpf filesystem/,
      when: 'op 50 bpffs is something else',
    },
    { argv: [...on(`${PINS}/good`), '--layout', '1.99'], exit: 2, when: 'the layout is unknown' },
    { argv: [...on(`${PINS}/good`), '--layout', '1.16'], exit: 4, when: 'the layout does not fit the map' },
  ];
}

/** Command lines that write; this process holds the good map read-write, so to them it is somebody else's. */
const WRITERS: readonly (readonly string[])[] = [
  ['set', '10.0.0.1', '--identity', '5'],
  ['delete', '10.0.0.0/8'],
  ['gc', '--tunnel', '192.0.2.1', '--assume-gone'],
];

function writing(command: readonly string[]): ExitRow[] {
  const argv = [...command, '--state-dir', path.join(scratch, 'state')];
  const on = (map: string): string[] => [...argv, '--map', map];
  return [
    { argv: on(`${PINS}/good`), exit: 13, code: 'OWNED_BY_AGENT', says: /read-write/, when: 'op 39c another holds it' },
    { argv: [...on(`${PINS}/good`), '--dry-run'], exit: 13, when: 'op 39c another holds it, also when dry' },
    { argv: on(`${PINS}/nothing`), exit: 3, says: /no such pin/, when: 'there is no such pin' },
    { argv: on(plainFile), exit: 3, says: /not a bpf filesystem/, when: 'the pin is a plain file' },
    { argv: on(`${PINS}/hash`), exit: 4, says: /hash/, when: 'op 28 the map is a hash' },
    { argv: on(`${PINS}/good`), uid: NOBODY, exit: 5, says: /CAP_/, when: 'op 50 the user may not write the pin' },
    { argv: [...on(`${PINS}/good`), '--layout', '1.16'], exit: 4, when: 'the layout does not fit the map' },
  ];
}

const ROWS = [...READERS.flatMap(reading), ...WRITERS.flatMap(writing)];

describe('exit status', () => {
  itExits(
    () => program,
    () => ROWS,
    ROWS.map((row, i) => `${rowName(row)} (${i})`),
  );

  it('op 28: nothing is printed of a map that is no ipcache', () => {
    for (const format of ['table', 'json', 'ndjson', 'csv', 'cilium', 'bpftool']) {
      const { status, stdout } = program.run(['dump', '-o', format, '--map', `${PINS}/hash`]);
      expect({ format, status, stdout }).toEqual({ format, status: 4, stdout: '' });
    }
  });

  it('op 15: an empty map is [] and 0', () => {
    const { status, stdout } = program.run(['dump', '--json', '--map', `${PINS}/empty`]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: '[]\n' });
  });
});
