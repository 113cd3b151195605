import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import Identity from '../../../src/commands/identity.ts';
import { createMap } from '../../../src/lib/bpf/create-map.ts';
import type { BpfMap } from '../../../src/lib/bpf/map.ts';
import { pinMap } from '../../../src/lib/bpf/pin.ts';
import { BPF_F_NO_PREALLOC, BPF_MAP_TYPE_LPM_TRIE } from '../../../src/lib/bpf/uapi.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { emptyCheckpoint } from '../../../src/lib/state/checkpoint.ts';
import { openState } from '../../../src/lib/state/state.ts';
import { hex } from '../../support/hex.ts';
import { entryBytes, pinnedIpcache } from '../../support/pinned-ipcache.ts';
import { bpfDescriptors, type PinDirectory, pinDirectory } from '../../support/real-kernel.ts';
import { errorOf, runCommand } from '../../support/run-command.ts';

const kernel = new LinuxKernel();
const KNOWN = '{"id":16777217,"labels":{"10.0.0.0/8":{"key":"10.0.0.0/8","source":"cidr"}}}';
const LATE = '{"id":16777300,"labels":{"192.0.2.7/32":{"key":"192.0.2.7/32","source":"cidr"}}}';

let directory: PinDirectory;
let pin: string;
let map: BpfMap;
let scratch: string;
let checkpoint: string;
let before: number;

beforeEach(() => {
  before = bpfDescriptors();
  directory = pinDirectory('identity');
  mkdirSync(`${directory.path}/tc/globals`, { recursive: true });
  pin = `${directory.path}/tc/globals/cilium_ipcache_v2`;
  scratch = mkdtempSync(join(tmpdir(), 'ipc-identity-'));
  checkpoint = join(scratch, 'local_allocator_state.json');
  map = pinnedIpcache(kernel, pin, [
    { prefix: '0.0.0.0/0', identity: 2 },
    { prefix: '10.0.0.0/8', identity: 16777217 },
    { prefix: '192.0.2.7/32', identity: 16777300 },
    { prefix: '10.2.3.4/32', identity: 41234 },
    { prefix: '192.0.2.8/32', identity: 33554440 },
  ]);
  writeFileSync(checkpoint, `[${KNOWN}]\n`);
});
afterEach(() => {
  map[Symbol.dispose]();
  directory[Symbol.dispose]();
  rmSync(scratch, { recursive: true });
  expect(bpfDescriptors()).toBe(before);
});

const run = (...argv: string[]) => {
  const place = ['--bpffs', directory.path, '--allocator-state', checkpoint, '--state-dir', join(scratch, 'state')];
  return runCommand(Identity, [...place, '--json', ...argv]);
};

async function numbers(...argv: string[]): Promise<number[]> {
  const { exitCode, stdout } = await run(...argv);
  expect(exitCode).toBe(0);
  return (JSON.parse(stdout) as { identity: number }[]).map(({ identity }) => identity);
}

describe('ipc identity --orphans', () => {
  test('op 39 local numbers that no checkpoint knows in two readings are orphans, a global one never', async () => {
    const { exitCode, stdout, stderr } = await run('--orphans', '--confirm', '50ms');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([
      { identity: 16777300, entries: 1, prefixes: ['192.0.2.7/32'] },
      { identity: 33554440, scope: 'remote-node' },
    ]);
    expect(stderr).toContain('local numbers in no checkpoint: 2; reading again in 0.05 s');
  });

  test('op 39 a checkpoint that the agent wrote meanwhile clears the number', async () => {
    const running = run('--orphans', '--confirm', '1s');
    setTimeout(() => writeFileSync(checkpoint, `[${KNOWN},${LATE}]\n`), 300);
    const { stdout } = await running;
    expect(JSON.parse(stdout)).toMatchObject([{ identity: 33554440 }]);
  });

  test('a number that leaves the map meanwhile is none', async () => {
    const { key } = entryBytes('v2', { prefix: '192.0.2.7/32', identity: 16777300 });
    const running = run('--orphans', '--confirm', '1s');
    setTimeout(() => map.delete(key), 300);
    expect(JSON.parse((await running).stdout)).toMatchObject([{ identity: 33554440 }]);
  });

  test('without any checkpoint nothing is claimed', async () => {
    rmSync(checkpoint);
    const result = await run('--orphans', '--confirm', '50ms');
    expect([result.exitCode, result.stdout]).toEqual([3, '']);
    expect(errorOf(result)).toMatchObject({ code: 'CHECKPOINT_NOT_FOUND', path: checkpoint });
  });

  test('the state of the pin itself speaks for a map of our own', async () => {
    rmSync(checkpoint);
    {
      using state = openState({ directory: join(scratch, 'state'), pin });
      const empty = emptyCheckpoint(pin, '2026-01-01T00:00:00.000Z', 'boot');
      await state.write({ ...empty, identities: [{ identity: 16777217, prefixes: ['10.0.0.0/8'] }] });
    }
    expect(await numbers('--orphans', '--confirm', '50ms')).toEqual([16777300, 33554440]);
  });

  test('a signal ends the waiting at once', async () => {
    const begun = performance.now();
    const result = await runCommand(
      Identity,
      ['--bpffs', directory.path, '--allocator-state', checkpoint, '--orphans', '--confirm', '60s'],
      { onStart: (deliver) => setTimeout(() => deliver('SIGINT'), 300) },
    );
    expect([result.exitCode, result.stdout]).toEqual([130, '']);
    expect(performance.now() - begun).toBeLessThan(10_000);
  });
});

describe('ipc identity on the live map', () => {
  test('--unused lists nothing while every number of the checkpoint is used', async () => {
    expect(await numbers('--unused')).toEqual([]);
    map.delete(entryBytes('v2', { prefix: '10.0.0.0/8', identity: 16777217 }).key);
    expect(await numbers('--unused')).toEqual([16777217]);
  });

  test('--policy says which endpoints have the number in their policy maps', async () => {
    const flags = BPF_F_NO_PREALLOC;
    using policy = createMap(kernel, {
      type: BPF_MAP_TYPE_LPM_TRIE,
      keyBytes: 12,
      valueBytes: 8,
      maxEntries: 16,
      flags,
    });
    policy.update(hex('40000000 01000001 01 06 01bb'), hex('00000100 00000000'));
    policy.update(hex('28000000 02000000 01 00 0000'), hex('00000000 00000000'));
    pinMap(policy, `${directory.path}/tc/globals/cilium_policy_v2_00042`);
    const { exitCode, stdout } = await run('16777217', '--policy');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([
      {
        identity: 16777217,
        policyMaps: 1,
        policy: [{ endpoint: 42, direction: 'egress', action: 'deny', protocol: 6, ports: { from: 443, to: 443 } }],
      },
    ]);
    const text = await runCommand(Identity, ['--bpffs', directory.path, '16777217', 'world', '--policy']);
    expect(text.stdout).toContain('endpoint 42 egress deny 443/tcp');
    expect(text.stdout).toContain('endpoint 42 egress allow any');
  });

  test('explains a fixed number where there is no map at all', async () => {
    rmSync(pin);
    const { exitCode, stdout, stderr } = await run('host');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([
      { identity: 1, name: 'host', meaning: 'this node itself', entries: null },
    ]);
    expect(stderr).toContain('no entries counted: Cannot find an ipcache map');
    expect((await run('host', '-m', pin)).exitCode).toBe(3);
  });
});
