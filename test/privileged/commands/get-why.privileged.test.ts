import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import Get from '../../../src/commands/get.ts';
import type { BpfMap } from '../../../src/lib/bpf/map.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { fakeAgent } from '../../support/fake-agent.ts';
import { pinnedIpcache } from '../../support/pinned-ipcache.ts';
import { bpfDescriptors, type PinDirectory, pinDirectory } from '../../support/real-kernel.ts';
import { errorOf, type RunOptions, runCommand } from '../../support/run-command.ts';
import { expectFits } from '../../support/schemas.ts';
import { type EntryValue, snapshotText } from '../../support/snapshot-lines.ts';

const PREFIX = '10.12.0.7/32';
let directory: PinDirectory;
let map: BpfMap;
let pin: string;
let history: string;
let before: number;

beforeEach(() => {
  before = bpfDescriptors();
  directory = pinDirectory('get-why');
  pin = `${directory.path}/cilium_ipcache_v2`;
  map = pinnedIpcache(new LinuxKernel(), pin, [{ prefix: PREFIX, identity: 41234, tunnel: '192.0.2.10' }]);
  history = mkdtempSync(join(tmpdir(), 'ipc-why-'));
});
afterEach(() => {
  rmSync(history, { recursive: true });
  map[Symbol.dispose]();
  directory[Symbol.dispose]();
  expect(bpfDescriptors()).toBe(before);
});

const entry = (identity: number): EntryValue => ({
  prefix: PREFIX,
  family: 'ipv4',
  identity,
  tunnelEndpoint: '192.0.2.10',
  encryptKey: 0,
  flags: 2,
});

function snapshot(hour: number, identity: number | undefined): string {
  const time = `2026-01-02T0${hour}:00:00.000Z`;
  const entries = identity === undefined ? [] : [entry(identity)];
  writeFileSync(join(history, `${hour}.ndjson`), snapshotText({ header: { time }, entries }));
  return time;
}

async function why(argv: readonly string[], options: RunOptions = {}) {
  const result = await runCommand(Get, ['-m', pin, '10.12.0.7', '--no-labels', '--why', '-j', ...argv], options);
  const report = JSON.parse(result.stdout);
  expectFits('get', report);
  return { ...result, why: report.why };
}

const event = (time: string, value: string, action = 'update') =>
  JSON.stringify({ timestamp: time, key: PREFIX, value, action, 'desired-action': 'sync', 'last-error': '<nil>' });
const value = (identity: number) => `identity=${identity} encryptkey=0 tunnelendpoint=192.0.2.10 flags=hastunnel`;
const IPS = JSON.stringify([
  {
    cidr: '10.12.0.7/32',
    identity: 41234,
    hostIP: '192.0.2.10',
    metadata: { source: 'kvstore', namespace: 'shop', name: 'cart-0' },
  },
]);

describe('ipc get --why', () => {
  it('says that the map keeps no times when nobody is asked', async () => {
    expect(await why([])).toMatchObject({
      exitCode: 0,
      stderr: '',
      why: { prefix: PREFIX, unknown: 'the map keeps no times' },
    });
    const text = await runCommand(Get, ['-m', pin, '10.12.0.7', '--no-labels', '--why']);
    expect(text.stdout).toContain('last change unknown: the map keeps no times');
  });

  it('tells source, pod and last change from an agent', async () => {
    const events = [event('2026-01-02T03:00:00Z', value(40000)), event('2026-01-02T04:00:00Z', value(41234))].join(
      '\n',
    );
    await using agent = await fakeAgent({ '/map/cilium_ipcache_v2/events': events, '/ip': IPS });
    const expected = {
      source: 'kvstore',
      pod: { namespace: 'shop', name: 'cart-0' },
      hostIP: '192.0.2.10',
      lastChange: { from: 'agent', time: '2026-01-02T04:00:00.000Z', action: 'update' },
      before: { identity: 40000, tunnelEndpoint: '192.0.2.10', encryptKey: 0, flags: ['hastunnel'] },
    };
    expect((await why(['--against', `agent:${agent.socket}`])).why).toMatchObject(expected);
    const byVariable = await why(['--against', 'agent'], { env: { CILIUM_SOCK: agent.socket } });
    expect(byVariable.why).toMatchObject({ ...expected, agent: { socket: agent.socket, identity: 41234 } });
    const { stdout } = await runCommand(Get, [
      '-m',
      pin,
      PREFIX,
      '--no-labels',
      '--why',
      '--against',
      `agent:${agent.socket}`,
    ]);
    expect(stdout).toContain('agent: identity 41234, source kvstore, pod shop/cart-0, on 192.0.2.10\n');
    expect(stdout).toContain('agent: 2026-01-02T04:00:00.000Z update identity 41234, tunnel 192.0.2.10, hastunnel\n');
  });

  it('says so when the agent does not know the prefix and keeps no events', async () => {
    await using agent = await fakeAgent({});
    const { why: found, exitCode } = await why(['--against', `agent:${agent.socket}`]);
    expect([exitCode, found]).toEqual([
      0,
      {
        prefix: PREFIX,
        agent: { socket: agent.socket, identity: null, events: null },
        unknown: 'the map keeps no times',
      },
    ]);
  });

  it('tells last change and what was before from snapshots', async () => {
    const after = snapshot(1, 40000);
    const by = snapshot(2, 41234);
    snapshot(3, 41234);
    const found = (await why(['--history', history])).why;
    expect(found).toMatchObject({ lastChange: { from: 'history', after, by }, before: { identity: 40000 } });
    expect(found.history).toMatchObject({ snapshots: 3, skipped: 0 });
  });

  it('of an address that is not there tells what it was', async () => {
    const after = snapshot(1, 41234);
    map.delete(keyOf(map));
    const { exitCode, why: found } = await why(['--history', history]);
    expect([exitCode, found.lastChange]).toEqual([12, { from: 'history', after }]);
    expect(found.before).toMatchObject({ identity: 41234 });
  });

  it('prefers the time of the agent and lets the history say what was before', async () => {
    snapshot(1, undefined);
    const events = event('2026-01-02T04:00:00Z', value(41234));
    await using agent = await fakeAgent({ '/map/cilium_ipcache_v2/events': events, '/ip': IPS });
    const { why: found } = await why(['--against', `agent:${agent.socket}`, '--history', history]);
    expect(found).toMatchObject({ lastChange: { from: 'agent', time: '2026-01-02T04:00:00.000Z' }, before: null });
  });

  it('prints what it found and exits 8 when the agent is silent or not there, 9 when it talks nonsense', async () => {
    snapshot(1, 40000);
    await using silent = await fakeAgent({ '/map/cilium_ipcache_v2/events': () => {} });
    await using nonsense = await fakeAgent({ '/map/cilium_ipcache_v2/events': 'hello' });
    for (const [socket, exitCode] of [
      [silent.socket, 8],
      ['/nonexistent/agent.sock', 8],
      [nonsense.socket, 9],
    ] as const) {
      const result = await why(['--against', `agent:${socket}`, '--history', history, '--timeout', '0.3s']);
      expect([result.exitCode, result.why.before?.identity]).toEqual([exitCode, 40000]);
      expect(errorOf(result)).toMatchObject({ exitCode, path: socket });
    }
  });

  it('tells source, resource and last change from a running listen', async () => {
    const head = { kind: 'listen-dump', schemaVersion: 1, time: '2026-01-02T03:04:05.006Z', pin, synced: true };
    const resources = [
      { resource: 'daemon//restored', source: 'restored' },
      { resource: 'cnp/shop/allow-db', source: 'custom-resource', labels: ['cidr:10.12.0.7/32'] },
    ];
    const since = '2026-01-02T03:04:01.000Z';
    const item = { prefix: PREFIX, identity: 41234, source: 'custom-resource', encryptKey: 0, since, resources };
    const end = { end: true, entries: 1, queued: 0, pending: 0 };
    const ndjson = (...lines: object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    await using listen = await fakeAgent({ '/ipc/v1/dump': ndjson(head, item, end) });
    const { why: found, exitCode } = await why(['--against', `listen:${listen.socket}`]);
    expect(exitCode).toBe(0);
    expect(found).toMatchObject({
      source: 'custom-resource',
      resource: 'cnp/shop/allow-db',
      listen: { socket: listen.socket, identity: 41234, resources, since },
      lastChange: { from: 'listen', time: since },
    });
    expect(listen.asked).toEqual(['/ipc/v1/dump?prefix=10.12.0.7%2F32']);
    await using knowsNothing = await fakeAgent({ '/ipc/v1/dump': ndjson(head, { ...end, entries: 0 }) });
    const unknown = await why(['--against', `listen:${knowsNothing.socket}`]);
    expect(unknown.why).toMatchObject({ listen: { identity: null }, unknown: 'the map keeps no times' });
    await using cutOff = await fakeAgent({ '/ipc/v1/dump': ndjson(head, item) });
    const broken = await why(['--against', `listen:${cutOff.socket}`]);
    expect([broken.exitCode, errorOf(broken).code]).toEqual([9, 'LISTEN_ANSWER']);
    const text = await runCommand(Get, [
      '-m',
      pin,
      PREFIX,
      '--no-labels',
      '--why',
      '--against',
      `listen:${listen.socket}`,
    ]);
    expect(text.stdout).toContain('listen: identity 41234, source custom-resource\n');
    expect(text.stdout).toContain('listen: cnp/shop/allow-db (custom-resource) cidr:10.12.0.7/32\n');
    expect(text.stdout).toContain(`listen: so since ${since}\n`);
  });

  it('warns about snapshots that cannot be asked', async () => {
    snapshot(1, 41234);
    writeFileSync(join(history, 'half.ndjson'), '{"kind":"ipcache-snapshot"');
    const result = await why(['--history', history]);
    expect(result.why.history).toMatchObject({ snapshots: 1, skipped: 1 });
    expect(result.stderr).toContain('half.ndjson is left out');
  });

  it.each([
    [['--against', 'agent'], 'it needs --why'],
    [['--why', '--against', 'snapshot:/x'], 'does not keep that'],
    [['--why', '--against', 'nothing'], 'no kind of source'],
  ])('refuses %j as usage', async (argv, says) => {
    const result = await runCommand(Get, ['-m', pin, '10.12.0.7', ...argv]);
    expect([result.exitCode, result.stdout]).toEqual([2, '']);
    expect(result.stderr).toMatch(says);
    expect((await runCommand(Get, ['-m', pin, '-', '--why'])).exitCode).toBe(2);
  });
});

function keyOf(opened: BpfMap): Uint8Array {
  const key = new Uint8Array(opened.info.keyBytes);
  opened.nextKey(undefined, key);
  return key;
}
