import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import Decode from '../../src/commands/decode.ts';
import Encode from '../../src/commands/encode.ts';
import SetCommand from '../../src/commands/set.ts';
import { errorOf, runCommand } from '../support/run-command.ts';

const fits = new Ajv2020().compile(JSON.parse(readFileSync('schemas/encode.json', 'utf8')));
const ZEROS = (count: number) => '00'.repeat(count);

async function encode(...argv: string[]): Promise<Record<string, unknown>> {
  const { exitCode, stdout, stderr } = await runCommand(Encode, ['--json', ...argv]);
  expect([exitCode, stderr]).toEqual([0, '']);
  const report: Record<string, unknown> = JSON.parse(stdout);
  expect(fits(report), JSON.stringify(fits.errors)).toBe(true);
  return report;
}

describe('ipc encode', () => {
  test.each([
    ['v2', `e8030000 c000020a ${ZEROS(12)} 0000 03 83`],
    ['1.16', 'e8030000 c000020a 0000 03 81'],
  ])('places everything as layout %s has it', async (layout, value) => {
    const parts = ['--identity', '1000', '--tunnel', '192.0.2.10', '--encrypt-key', '3', '--flag', 'skiptunnel,0x80'];
    expect(await encode('10.0.0.5/24@258', ...parts, '--layout', layout)).toMatchObject({
      prefix: '10.0.0.0/24@258',
      clusterId: 258,
      key: `38000000020100010a000000${ZEROS(12)}`,
      value: value.replaceAll(' ', ''),
      layout,
    });
  });

  test.each([
    ['1.15', '1.15', '@1', `${ZEROS(2)}0300`, '01000001'],
    ['1.14', '1.14', '@1', `${ZEROS(2)}0300`, '00000101'],
    ['1.5', '1.5', '', `03${ZEROS(3)}`, '00000001'],
  ])('places cluster ID and encrypt key as layout %s has them', async (_name, layout, cluster, tail, fixed) => {
    const report = await encode(`10.0.0.1${cluster}`, '--identity', '1000', '--encrypt-key', '3', '--layout', layout);
    expect(report).toMatchObject({ key: `40000000${fixed}0a000001${ZEROS(12)}`, value: `e8030000${ZEROS(4)}${tail}` });
  });

  test('op 09 a bare address means its full length', async () => {
    expect(await encode('10.68.0.82', '--identity', '2')).toMatchObject({ prefix: '10.68.0.82/32' });
  });

  test('sets the flags of an IPv6 tunnel, and takes names of reserved identities', async () => {
    expect(await encode('fd00::/64', '--identity', 'ingress', '--tunnel', 'fd00::9')).toMatchObject({
      identity: 8,
      tunnelEndpoint: 'fd00::9',
      flags: ['hastunnel', 'ipv6tunnel'],
    });
  });

  test.each([
    ['hastunnel', []],
    ['0x82', []],
    ['ipv6tunnel', []],
    ['ipv6tunnel', ['--tunnel', '192.0.2.10']],
  ])('refuses the tunnel flag %s with %j, as ipc set does', async (flag, tunnel) => {
    const entry = ['10.0.0.1', '--identity', '5', '--flag', flag, ...tunnel];
    for (const command of [Encode, SetCommand]) {
      const result = await runCommand(command, ['--json', '--map', '/nonexistent', ...entry]);
      expect([result.exitCode, result.stdout]).toEqual([2, '']);
      expect(errorOf(result)).toMatchObject({ code: 'TUNNEL_FLAG', hint: expect.stringContaining('--tunnel') });
    }
  });

  test('takes the tunnel flags that follow from the tunnel anyway', async () => {
    const entry = ['fd00::/64', '--identity', '5', '--tunnel'];
    const flags = ['--flag', 'hastunnel,ipv6tunnel'];
    expect(await encode(...entry, 'fd00::9', ...flags)).toEqual(await encode(...entry, 'fd00::9'));
  });

  test('prints bytes for people and a command for bpftool', async () => {
    const { stdout } = await runCommand(Encode, ['10.0.0.1', '--identity', '16777217']);
    expect(stdout.split('\n')).toEqual([
      'entry   10.0.0.1/32 → 16777217 (local 1)',
      'layout  v2 (Cilium 1.18 and later)',
      `key     40 00 00 00 00 00 00 01 0a 00 00 01${' 00'.repeat(12)}`,
      `value   01 00 00 01${' 00'.repeat(20)}`,
      '',
      `bpftool map update pinned /sys/fs/bpf/tc/globals/cilium_ipcache_v2 key hex 40 00 00 00 00 00 00 01 0a 00 00 01${' 00'.repeat(12)} value hex 01 00 00 01${' 00'.repeat(20)}`,
      '',
    ]);
  });

  test.each([
    ['id:7', 'id 7'],
    ['name:cilium_ipcache_', 'name cilium_ipcache_'],
    ['/sys/fs/bpf/x', 'pinned /sys/fs/bpf/x'],
  ])('names the map %s for bpftool as %s', async (map, words) => {
    expect((await encode('10.0.0.1', '--identity', '2', '-m', map)).bpftool).toContain(
      `bpftool map update ${words} key hex`,
    );
  });

  test('is undone by ipc decode, from JSON, text and the bpftool command', async () => {
    const argv = [
      '2001:db8::/33@9',
      '--identity',
      '16777217',
      '--tunnel',
      '192.0.2.1',
      '--encrypt-key',
      '7',
      '--flags',
      '0x40',
    ];
    const report = await encode(...argv);
    const { kind: _kind, schemaVersion: _version, bpftool, ...entry } = report;
    const json = await runCommand(Decode, ['--json'], { stdin: JSON.stringify(report) });
    expect(JSON.parse(json.stdout)).toEqual([entry]);
    const command = await runCommand(Decode, ['--json'], { stdin: String(bpftool) });
    expect(JSON.parse(command.stdout)).toEqual([entry]);
  });
});

describe('ipc encode refuses', () => {
  test.each([
    [['10.0.0.0/33', '--identity', '2'], 2, 'length "33"'],
    [['192.0.2.7:32', '--identity', '2'], 2, 'a colon where a slash belongs'],
    [['10.0.0.1'], 2, 'identity'],
    [['10.0.0.1', '--identity', '4294967296'], 2, '4294967296'],
    [['10.0.0.1', '--identity', '-1'], 2, '-1'],
    [['10.0.0.1', '--identity', 'nobody'], 2, 'nobody'],
    [['10.0.0.1', '--identity', '2', '--tunnel', '0.0.0.0'], 2, 'it is the address of no node'],
    [['10.0.0.1', '--identity', '2', '--tunnel', '10.0.0'], 2, 'not an address'],
    [['10.0.0.1', '--identity', '2', '--encrypt-key', '256'], 2, 'not a number from 0 to 255'],
    [['10.0.0.1', '--identity', '2', '--flag', 'fast'], 2, 'neither a name nor a number'],
    [['10.0.0.1', '--identity', '2', '--layout', '2'], 2, 'there is none of that name'],
    [['10.0.0.1@256', '--identity', '2', '--layout', '1.14'], 4, 'cluster IDs up to 255'],
    [['10.0.0.1', '--identity', '2', '--layout', '1.16', '--tunnel', 'fd00::1'], 4, 'room for IPv4 only'],
    [['10.0.0.1', '--identity', '2', '--layout', '1.15', '--flag', 'skiptunnel'], 4, 'flags into layout 1.15'],
  ])('%j with %i', async (argv, exitCode, message) => {
    const result = await runCommand(Encode, ['--json', ...argv]);
    expect([result.exitCode, result.stdout]).toEqual([exitCode, '']);
    expect(errorOf(result).message).toContain(message);
  });
});
