import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import Get from '../../../src/commands/get.ts';
import type { BpfMap } from '../../../src/lib/bpf/map.ts';
import type { LayoutName } from '../../../src/lib/ipcache/layout.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { loadProgram } from '../../support/load-program.ts';
import { entryBytes, pinnedIpcache, type WordEntry } from '../../support/pinned-ipcache.ts';
import { bpfDescriptors, type PinDirectory, pinDirectory } from '../../support/real-kernel.ts';
import { runCommand } from '../../support/run-command.ts';

const kernel = new LinuxKernel();
let directory: PinDirectory;
let maps: BpfMap[];
let before: number;

beforeEach(() => {
  before = bpfDescriptors();
  directory = pinDirectory('get');
  maps = [];
});
afterEach(() => {
  for (const map of maps) map[Symbol.dispose]();
  directory[Symbol.dispose]();
  expect(bpfDescriptors()).toBe(before);
});

function pinned(name: string, entries: readonly WordEntry[], layout?: LayoutName): string {
  const pin = `${directory.path}/${name}`;
  maps.push(pinnedIpcache(kernel, pin, entries, layout));
  return pin;
}

const get = (...argv: string[]) => runCommand(Get, argv);
const WIDE: WordEntry = { prefix: '10.244.1.0/24', identity: 16777217 };
const ALL: WordEntry = { prefix: '0.0.0.0/0', identity: 2, tunnel: '192.0.2.9', encryptKey: 3 };

describe('ipc get', () => {
  it('op 20: names the matched prefix; --exact finds only the entry itself', async () => {
    const pin = pinned('map', [WIDE]);
    const match = await get('-m', pin, '10.244.1.9', '-j');
    expect([match.exitCode, match.stderr]).toEqual([0, '']);
    expect(JSON.parse(match.stdout)).toMatchObject({
      kind: 'get',
      map: { pin, layout: 'v2', programs: 0 },
      query: '10.244.1.9/32',
      match: { prefix: '10.244.1.0/24', identity: 16777217, scope: 'local' },
      warnings: ['no host entry: there is no /32 for this address'],
    });
    const exact = await get('-m', pin, '--exact', '10.244.1.9', '-j');
    expect([exact.exitCode, JSON.parse(exact.stdout).match]).toEqual([12, null]);
    expect(JSON.parse(exact.stderr).error).toMatchObject({ code: 'NO_ENTRY', exitCode: 12, prefix: '10.244.1.9/32' });
    const canonical = await get('-m', pin, '--exact', '10.244.1.0/24', '-j');
    expect(JSON.parse(canonical.stdout).match.prefix).toBe('10.244.1.0/24');
  });

  it('op 08: an entry stored with host bits is found by its canonical spelling', async () => {
    const pin = pinned('map', []);
    const { key, value } = entryBytes('v2', { prefix: '10.0.0.0/24', identity: 300 });
    key[11] = 5;
    maps[0]?.update(key, value);
    for (const text of ['10.0.0.0/24', '10.0.0.5/24']) {
      const { stdout } = await get('-m', pin, '--exact', text, '-j');
      expect(JSON.parse(stdout).match).toMatchObject({ prefix: '10.0.0.0/24', identity: 300 });
    }
  });

  it('shows what each entry of the chain hides', async () => {
    const pin = pinned('map', [WIDE, ALL, { prefix: '10.244.1.9/32', identity: 16777218 }]);
    const { stdout } = await get('-m', pin, '10.244.1.9', '-j');
    const { chain } = JSON.parse(stdout) as { chain: { prefix: string; hides?: object }[] };
    expect(chain.map(({ prefix, hides }) => [prefix, hides])).toEqual([
      ['10.244.1.9/32', { prefix: '10.244.1.0/24', identity: 16777217, encryptKey: 0 }],
      ['10.244.1.0/24', { prefix: '0.0.0.0/0', identity: 2, tunnelEndpoint: '192.0.2.9', encryptKey: 3 }],
      ['0.0.0.0/0', undefined],
    ]);
    const text = await get('-m', pin, '10.244.1.9');
    expect(text.stdout).toContain('10.244.1.9/32 matches 10.244.1.9/32: identity 16777218 (local 2)');
    expect(text.stdout).toContain('0.0.0.0/0 (identity 2, tunnel 192.0.2.9, key 3)');
  });

  it('joins labels from the checkpoint', async () => {
    const scratch = mkdtempSync(join(tmpdir(), 'ipc-get-'));
    const state = join(scratch, 'state.json');
    writeFileSync(state, '[{"id":16777217,"labels":{"10.244.1.0/24":{"key":"10.244.1.0/24","source":"cidr"}}}]\n');
    const { stdout } = await get('-m', pinned('map', [WIDE]), '10.244.1.9', '-j', '--allocator-state', state);
    rmSync(scratch, { recursive: true });
    expect(JSON.parse(stdout).match).toMatchObject({ labels: ['cidr:10.244.1.0/24'], labelsFrom: 'allocator' });
  });

  it('answers every line of standard input and goes on after a bad one', async () => {
    const stdin = '10.244.1.9\n\n# a comment\nnonsense\n192.0.2.1\n10.244.1.0/25\n';
    const { stdout, stderr, exitCode } = await runCommand(Get, ['-m', pinned('map', [WIDE]), '-o', 'ndjson', '-'], {
      stdin,
    });
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ query, match }) => [query, match?.prefix])).toEqual([
      ['10.244.1.9/32', '10.244.1.0/24'],
      ['192.0.2.1/32', undefined],
      ['10.244.1.0/25', '10.244.1.0/24'],
    ]);
    expect(exitCode).toBe(9);
    expect(JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '').error).toMatchObject({
      exitCode: 9,
      file: '-',
      line: 4,
    });
  });

  it('warns when programs hold another map, and --map id:N reads that one', async () => {
    const pin = pinned('map', [WIDE]);
    const live = pinnedIpcache(kernel, `${directory.path}/live`, [{ ...WIDE, identity: 16777299 }]);
    maps.push(live);
    using _program = loadProgram(kernel, { fd: live.fd, keyBytes: 24 }, 'cil_test');
    const { stdout } = await get('-m', pin, '10.244.1.9', '-j');
    const { warnings, map } = JSON.parse(stdout);
    expect(map.programs).toBe(0);
    expect(warnings).toContainEqual(
      `1 programs hold map id:${live.info.id}, none this one: the datapath reads another map`,
    );
    for (const ref of [`id:${live.info.id}`, 'datapath']) {
      const other = JSON.parse((await get('-m', ref, '10.244.1.9', '-j')).stdout);
      expect([other.match.identity, other.map.programs, other.map.id]).toEqual([16777299, 1, live.info.id]);
    }
  });

  it('tells a 12-byte layout from the chain and says so', async () => {
    const pin = pinned('old', [{ prefix: '10.0.0.0/8', identity: 300, encryptKey: 5 }], '1.15');
    const { match, warnings } = JSON.parse((await get('-m', pin, '10.0.0.1', '-j')).stdout);
    expect(match.encryptKey).toBe(5);
    expect(warnings.some((warning: string) => warning.startsWith('layout 1.16 was told from few bytes'))).toBe(true);
    const named = JSON.parse((await get('-m', pin, '10.0.0.1', '-j', '--layout', '1.15')).stdout);
    expect(named.map.layout).toBe('1.15');
  });

  it.each(['10.0.0.0/33', '10.0.0/8', '', '::1%eth0', '10.0.0.0/24@65536'])('refuses %j as usage', async (text) => {
    const { exitCode, stdout } = await get('-m', pinned('map', []), text);
    expect([exitCode, stdout]).toEqual([2, '']);
  });
});
