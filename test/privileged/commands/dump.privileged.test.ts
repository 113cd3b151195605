import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import Dump from '../../../src/commands/dump.ts';
import type { BpfMap } from '../../../src/lib/bpf/map.ts';
import { pinMap } from '../../../src/lib/bpf/pin.ts';
import { BPF_MAP_TYPE_HASH } from '../../../src/lib/bpf/uapi.ts';
import type { LayoutName } from '../../../src/lib/ipcache/layout.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { pinnedIpcache, type WordEntry } from '../../support/pinned-ipcache.ts';
import { bpfDescriptors, type PinDirectory, pinDirectory, realTrie } from '../../support/real-kernel.ts';
import { runCommand } from '../../support/run-command.ts';

const kernel = new LinuxKernel();
const ENTRIES: readonly WordEntry[] = [
  { prefix: '10.0.0.0/8', identity: 2 },
  { prefix: '10.1.0.0/16', identity: 16777217 },
  { prefix: '10.1.2.3/32', identity: 41234, tunnel: '192.0.2.10', encryptKey: 3 },
  { prefix: '10.1.2.4/32@7', identity: 460001, flags: 8 },
  { prefix: 'fd00::/16', identity: 33554433, tunnel: 'fd00::9' },
];

let directory: PinDirectory;
let scratch: string;
let maps: BpfMap[];
let before: number;

beforeEach(() => {
  before = bpfDescriptors();
  directory = pinDirectory('dump');
  scratch = mkdtempSync(join(tmpdir(), 'ipc-dump-'));
  maps = [];
});
afterEach(() => {
  for (const map of maps) map[Symbol.dispose]();
  directory[Symbol.dispose]();
  rmSync(scratch, { recursive: true });
  expect(bpfDescriptors()).toBe(before);
});

function pinned(name: string, entries: readonly WordEntry[], layout?: LayoutName): string {
  const pin = `${directory.path}/${name}`;
  maps.push(pinnedIpcache(kernel, pin, entries, layout));
  return pin;
}

const dump = (...argv: string[]) => runCommand(Dump, argv);

async function prefixes(...argv: string[]): Promise<string[]> {
  const { stdout, exitCode, stderr } = await dump('--json', '--no-labels', ...argv);
  expect([exitCode, stderr]).toEqual([0, '']);
  return (JSON.parse(stdout) as { prefix: string }[]).map(({ prefix }) => prefix);
}

describe('ipc dump', () => {
  it('lists every entry once, in the order of the kernel', async () => {
    const { stdout, exitCode } = await dump('-m', pinned('map', ENTRIES), '-j', '--no-labels');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual([
      {
        prefix: '10.1.2.3/32',
        family: 'ipv4',
        identity: 41234,
        scope: 'global',
        tunnelEndpoint: '192.0.2.10',
        encryptKey: 3,
        flags: ['hastunnel'],
      },
      { prefix: '10.1.0.0/16', family: 'ipv4', identity: 16777217, scope: 'local', encryptKey: 0, flags: [] },
      { prefix: '10.0.0.0/8', family: 'ipv4', identity: 2, scope: 'reserved', encryptKey: 0, flags: [] },
      {
        prefix: 'fd00::/16',
        family: 'ipv6',
        identity: 33554433,
        scope: 'remote-node',
        tunnelEndpoint: 'fd00::9',
        encryptKey: 0,
        flags: ['hastunnel', 'ipv6tunnel'],
      },
      {
        prefix: '10.1.2.4/32@7',
        clusterId: 7,
        family: 'ipv4',
        identity: 460001,
        scope: 'global',
        encryptKey: 0,
        flags: ['remotecluster'],
      },
    ]);
  });

  it('filters, sorts and limits', async () => {
    const pin = pinned('map', ENTRIES);
    expect(await prefixes('-m', pin, '--within', '10.1.0.0/16')).toEqual(['10.1.2.3/32', '10.1.0.0/16']);
    expect(await prefixes('-m', pin, '--contains', '10.1.2.3')).toEqual(['10.1.2.3/32', '10.1.0.0/16', '10.0.0.0/8']);
    expect(await prefixes('-m', pin, '--scope', 'local,reserved', '--sort', 'identity')).toEqual([
      '10.0.0.0/8',
      '10.1.0.0/16',
    ]);
    expect(await prefixes('-m', pin, '--sort', 'prefix', '--limit', '2')).toEqual(['10.0.0.0/8', '10.1.0.0/16']);
    expect(await prefixes('-m', pin, '--limit', '1')).toEqual(['10.1.2.3/32']);
    expect(await prefixes('-m', pin, '--limit', '0')).toEqual([]);
    expect(await prefixes('-m', pin, '--identity', 'world', '--identity', '16777217')).toEqual([
      '10.1.0.0/16',
      '10.0.0.0/8',
    ]);
    expect((await dump('-m', pin, '--count', '--family', 'ipv4')).stdout).toBe('4\n');
  });

  it('joins labels from the allocator checkpoint and filters by them', async () => {
    const state = join(scratch, 'local_allocator_state.json');
    writeFileSync(state, '[{"id":16777217,"labels":{"10.1.0.0/16":{"key":"10.1.0.0/16","source":"cidr"}}}]\n');
    const options = ['-m', pinned('map', ENTRIES), '-j', '--allocator-state', state];
    const { stdout } = await dump(...options, '--label', 'cidr:10.1.0.0/16');
    expect(JSON.parse(stdout)).toMatchObject([
      { prefix: '10.1.0.0/16', labels: ['cidr:10.1.0.0/16'], labelsFrom: 'allocator' },
    ]);
    const world = await dump(...options, '--identity', '2');
    expect(JSON.parse(world.stdout)).toMatchObject([{ labels: ['reserved:world'], labelsFrom: 'reserved' }]);
  });

  it('prints with -o bpftool what bpftool prints, byte for byte', async () => {
    const pin = pinned('map', ENTRIES);
    const theirs = execFileSync('bpftool', ['-j', 'map', 'dump', 'pinned', pin], { encoding: 'utf8' });
    const { stdout } = await dump('-m', pin, '-o', 'bpftool');
    expect(JSON.parse(stdout)).toEqual(JSON.parse(theirs));
    expect(stdout.trimEnd()).toBe(theirs.trimEnd());
  });

  it.each(['1.16', '1.15', '1.14', '1.5', '1.2'] as const)('reads a map of layout %s', async (layout) => {
    const entry = {
      prefix: '10.1.2.3/32',
      identity: 41234,
      tunnel: '192.0.2.10',
      encryptKey: layout === '1.2' ? 0 : 3,
    };
    const pin = pinned('old', [entry], layout);
    const { stdout } = await dump('-m', pin, '-j', '--no-labels', ...(layout === '1.2' ? [] : ['--layout', layout]));
    const { prefix, identity, tunnel, encryptKey } = entry;
    expect(JSON.parse(stdout)).toMatchObject([{ prefix, identity, tunnelEndpoint: tunnel, encryptKey }]);
  });

  it('recognises a 12-byte layout by what the whole map holds', async () => {
    const far: WordEntry[] = Array.from({ length: 9000 }, (_, i) => ({
      prefix: `10.${i >> 8}.${i & 255}.0/24`,
      identity: 300,
    }));
    const pin = pinned('old', [...far, { prefix: '200.0.0.1/32', identity: 301, encryptKey: 9 }], '1.5');
    const { stdout } = await dump('-m', pin, '-j', '--identity', '301');
    expect(JSON.parse(stdout)).toMatchObject([{ prefix: '200.0.0.1/32', encryptKey: 9 }]);
  });

  it('op 15: an empty map is exactly []', async () => {
    const { stdout, exitCode } = await dump('-m', pinned('empty', []), '-j');
    expect([stdout, exitCode]).toEqual(['[]\n', 0]);
    const { stdout: lines } = await dump('-m', `${directory.path}/empty`, '-o', 'ndjson', '--trailer');
    expect(lines).toBe('{"end":true,"entries":0,"complete":true}\n');
  });

  it('op 28: refuses a map of another type without output', async () => {
    const hash = realTrie(kernel, { type: BPF_MAP_TYPE_HASH, flags: 0, keyBytes: 8, valueBytes: 8 });
    maps.push(hash);
    pinMap(hash, `${directory.path}/hash`);
    const { stdout, stderr, exitCode } = await dump('-m', `${directory.path}/hash`, '-j');
    expect([stdout, exitCode]).toEqual(['', 4]);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: 'NOT_AN_IPCACHE', exitCode: 4, mapType: 'hash', keyBytes: 8, valueBytes: 8 },
    });
  });

  it('op 06: shows dead and catch-all entries by their bytes with a warning', async () => {
    const pin = pinned('odd', [{ prefix: '10.0.0.1/32', identity: 300 }]);
    const value = new Uint8Array(24);
    value[0] = 7;
    const keys = ['46000000000000010a000000', '40000000000000030a000000', '10000000000000010a000000'];
    for (const key of keys) maps[0]?.update(Buffer.from(key.padEnd(48, '0'), 'hex'), value);
    const { stdout } = await dump('-m', pin, '-j', '--identity', '7');
    const rows = JSON.parse(stdout) as { prefix: string; warnings: string[] }[];
    expect(new Map(rows.map(({ prefix, warnings }) => [prefix.slice(0, 10), warnings]))).toEqual(
      new Map([
        ['0x46000000', ['dead-entry']],
        ['0x40000000', ['unknown-family']],
        ['0x10000000', ['catch-all']],
      ]),
    );
  });

  it('writes --file complete or not at all', async () => {
    const file = join(scratch, 'out.json');
    const { stdout, exitCode } = await dump('-m', pinned('map', ENTRIES), '-j', '--file', file);
    expect([stdout, exitCode]).toEqual(['', 0]);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveLength(ENTRIES.length);
    const before = readFileSync(file, 'utf8');
    expect((await dump('-m', `${directory.path}/nothing`, '-j', '--file', file)).exitCode).toBe(3);
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it.each([
    [['--trailer']],
    [['--count', '-o', 'csv']],
    [['--label', 'k8s:a=b', '--no-labels']],
    [['--raw', '-o', 'cilium']],
    [['--within', '10.0.0.0/33']],
    [['--identity', 'nobody']],
    [['--layout', '9.9']],
    [['--label', ':=x']],
  ])('refuses %j as usage', async (argv) => {
    const { exitCode, stdout } = await dump('-m', pinned('map', ENTRIES), ...argv);
    expect([exitCode, stdout]).toEqual([2, '']);
  });
});
