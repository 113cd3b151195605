/** What surrounds the loop: control socket, metrics, monitor, service manager, signals. */
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openPin } from '../../../src/lib/bpf/open-pin.ts';
import { pinMap, unpin } from '../../../src/lib/bpf/pin.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { type InstalledProgram, installProgram } from '../../support/installed-program.ts';
import { type ListenOptions, ListenProcess, mapWords } from '../../support/listen-process.ts';
import { NotifySocket } from '../../support/notify-socket.ts';
import { entryBytes, pinnedIpcache } from '../../support/pinned-ipcache.ts';
import { type PinDirectory, pinDirectory, realTrie } from '../../support/real-kernel.ts';
import { expectFits } from '../../support/schemas.ts';

const kernel = new LinuxKernel();
const SYNCED = { op: 'synced' };
const POD = {
  op: 'upsert',
  prefix: '10.0.0.1',
  identity: 1234,
  hostIP: '192.0.2.9',
  pod: { namespace: 'a', name: 'b' },
};
const NETWORK = {
  op: 'upsertMetadata',
  prefix: '192.0.2.0/24',
  resource: 'cnp/shop/db',
  source: 'custom-resource',
  labels: ['cidr:192.0.2.0/24'],
};
let program: InstalledProgram;
let directory: PinDirectory;
let scratch: string;
let pin: string;
let running: ListenProcess[];

beforeAll(() => {
  program = installProgram();
});
afterAll(() => program[Symbol.dispose]());
beforeEach(() => {
  directory = pinDirectory('service');
  scratch = mkdtempSync(path.join(tmpdir(), 'ipc-service-'));
  pin = `${directory.path}/map`;
  running = [];
});
afterEach(async () => {
  for (const listen of running) await listen.stop('SIGKILL');
  directory[Symbol.dispose]();
  rmSync(scratch, { recursive: true });
});

function start(options: Partial<ListenOptions> = {}): ListenProcess {
  const listen = new ListenProcess({ program, pin, scratch, ...options });
  running.push(listen);
  return listen;
}

async function untilReady(listen: ListenProcess): Promise<void> {
  await listen.until('ready', async () => (await listen.status()).ready);
}

describe('control socket', () => {
  it('is for this user only, and says in every answer that it is an ipc', async () => {
    const listen = start();
    listen.send(POD, NETWORK, SYNCED);
    await untilReady(listen);
    expect(statSync(listen.socket).mode & 0o777).toBe(0o600);
    for (const url of ['/ipc/v1/status', '/v1/healthz', '/v1/ip', '/nothing']) {
      expect((await listen.http('GET', url)).server, url).toMatch(/^ipc\/\d/);
    }
    const status = await listen.status();
    expectFits('listen-status', status);
    expect(status).toMatchObject({ phase: 'run', ready: true, entries: 2, identities: 1, pending: 0 });
  });

  it('lists the cache with the resources behind it, and ends with a line', async () => {
    const listen = start();
    listen.send(POD, NETWORK, SYNCED);
    await untilReady(listen);
    const lines = async (url: string) =>
      (await listen.http('GET', url)).text
        .trimEnd()
        .split('\n')
        .map((text) => JSON.parse(text) as Record<string, unknown>);
    const all = await lines('/ipc/v1/dump');
    expect(all[0]).toMatchObject({ kind: 'listen-dump', synced: true });
    expect(all.slice(1, -1)).toEqual([
      expect.objectContaining({ prefix: '10.0.0.1/32', endpoint: true, identity: 1234, source: 'api' }),
      expect.objectContaining({ prefix: '192.0.2.0/24', labels: ['cidr:192.0.2.0/24', 'reserved:world-ipv4'] }),
    ]);
    expect(all.at(-1)).toMatchObject({ end: true, entries: 2 });
    const [, one] = await lines('/ipc/v1/dump?prefix=192.0.2.0/24');
    expect(one).toMatchObject({
      resources: [{ resource: 'cnp/shop/db', source: 'custom-resource' }],
      since: expect.stringMatching(/Z$/),
      sinceStart: true,
    });
    // Changed after everything was listed: in a later second, so that it can be told.
    await sleep(1100);
    const before = Date.now();
    listen.send({ ...POD, identity: 4321 });
    await listen.until('changed', async () => (await mapWords(pin))['10.0.0.1/32'] === '4321');
    const [, changed] = await lines('/ipc/v1/dump?prefix=10.0.0.1/32');
    expect(changed).toMatchObject({ identity: 4321 });
    expect(changed).not.toHaveProperty('sinceStart');
    expect(Math.abs(Date.parse(String(changed?.since)) - before)).toBeLessThan(5000);
    const asked = ['get', '10.0.0.1', '--map', pin, '--no-labels', '--why', '--against', `listen:${listen.socket}`];
    const { status, stdout } = program.run([...asked, '--json']);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ why: { lastChange: { from: 'listen', time: changed?.since } } });
    expect(await listen.http('GET', '/ipc/v1/dump?prefix=192.0.2.0/33')).toMatchObject({ status: 400 });
  });

  it('answers in the shapes of an agent: 404 for an empty list, labels in the body of a GET', async () => {
    const listen = start();
    await listen.untilRunning();
    await listen.until('socket', async () => (await listen.status()).phase === 'run');
    expect(await listen.http('GET', '/v1/ip')).toMatchObject({ status: 404, text: '' });
    listen.send(POD, NETWORK, { op: 'upsert', prefix: '0.0.0.0/0', identity: 2 }, SYNCED);
    await untilReady(listen);
    const ips = async (url: string, body?: string): Promise<unknown> =>
      JSON.parse((await listen.http('GET', url, body)).text);
    expect(await ips('/v1/ip')).toEqual([
      {
        cidr: '10.0.0.1/32',
        identity: 1234,
        hostIP: '192.0.2.9',
        metadata: { source: 'api', namespace: 'a', name: 'b' },
      },
      { cidr: '0.0.0.0/0', identity: 2 },
      { cidr: '192.0.2.0/24', identity: 16777217 },
    ]);
    expect(await ips('/v1/ip?cidr=10.0.0.0/8')).toHaveLength(1);
    expect(await ips('/v1/ip', '["cidr:192.0.2.0/24"]')).toEqual([{ cidr: '192.0.2.0/24', identity: 16777217 }]);
    expect(await ips('/v1/identity', '["reserved:host"]')).toEqual([{ id: 1, labels: ['reserved:host'] }]);
    expect(await ips('/v1/identity/16777217')).toMatchObject({ id: 16777217 });
    expect(await listen.http('GET', '/v1/identity/16777999')).toMatchObject({ status: 404 });
    expect(await listen.http('GET', '/v1/identity/x')).toMatchObject({ status: 400 });
    expect(await listen.http('GET', '/v1/ip?cidr=x')).toMatchObject({ status: 400 });
    expect(await listen.http('GET', '/v1/ip', '{')).toMatchObject({ status: 400 });
    expect(await listen.http('GET', '/v1/ip', `["${'x'.repeat(1 << 20)}"]`)).toMatchObject({ status: 413 });
  });

  it('takes events, and releases when it is told to', async () => {
    pinnedIpcache(kernel, pin, [{ prefix: '10.1.0.0/24', identity: 16777220 }])[Symbol.dispose]();
    const listen = start({ args: ['--grace-period', '1h'] });
    await listen.until('socket', async () => (await listen.status()).phase === 'run');
    const body = `${JSON.stringify(POD)}\nno event\n`;
    const taken = JSON.parse((await listen.http('POST', '/ipc/v1/events', body)).text) as object;
    expect(taken).toMatchObject({ events: 1, badLines: 1, errors: [expect.stringContaining('line 2 of the request')] });
    await listen.until('written', async () => (await mapWords(pin))['10.0.0.1/32'] !== undefined);
    expect(JSON.parse((await listen.http('POST', '/ipc/v1/release')).text)).toEqual({ released: 1 });
    await listen.until('released', async () => (await mapWords(pin))['10.1.0.0/24'] === undefined);
    expect((await listen.status()).restore).toMatchObject({ placeholders: 0, released: expect.any(String) });
  });

  it('replaces a socket that was left over, and refuses one that answers', async () => {
    const listen = start();
    await listen.until('socket', async () => (await listen.status()).phase === 'run');
    await listen.stop('SIGKILL');
    const next = start();
    await next.until('socket', async () => (await next.status()).phase === 'run');
    const other = start({ pin: `${directory.path}/other`, args: ['--state-dir', path.join(scratch, 'x')] });
    expect(await other.exit).toMatchObject({ code: 2 });
  });
});

describe('monitor', () => {
  it('tells every change after its write, in the lines of cilium-dbg monitor -j', async () => {
    const file = path.join(scratch, 'monitor.ndjson');
    const listen = start({ args: ['--monitor', `ndjson:${file}`, '--max-entries', '2', '--stop-timeout', '500ms'] });
    listen.send(POD, { ...POD, identity: 4321 }, { op: 'delete', prefix: '10.0.0.1' });
    for (const i of [1, 2, 3]) listen.send({ op: 'upsert', prefix: `10.1.0.${i}`, identity: 7 });
    await listen.until('the map is full', async () => (await listen.status()).pending === 1);
    await listen.stop();
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    const host = '"host-ip":"192.0.2.9"';
    const end = '"encrypt-key":0,"namespace":"a","pod-name":"b"}}';
    const upserted = '{"type":"agent","subtype":"IPCache entry upserted","message":{"cidr":"10.0.0.1/32"';
    expect(lines).toContain(`${upserted},"id":1234,${host},${end}`);
    expect(lines).toContain(`${upserted},"id":4321,"old-id":1234,${host},"old-host-ip":"192.0.2.9",${end}`);
    expect(lines.find((line) => line.includes('deleted'))).toContain('"cidr":"10.0.0.1/32","id":4321');
    expect(lines.filter((line) => line.endsWith(',"applied":false}')).length).toBeGreaterThan(0);
  });
});

describe('service manager', () => {
  it('hears READY, STATUS, WATCHDOG and STOPPING, in this order', async () => {
    using notified = new NotifySocket(path.join(scratch, 'notify.sock'));
    const env = { NOTIFY_SOCKET: notified.path, WATCHDOG_USEC: '400000' };
    const listen = start({ env });
    listen.send(POD, SYNCED);
    await listen.until('WATCHDOG', () => notified.messages().includes('WATCHDOG=1'));
    await listen.until('ready', () => notified.messages().some((text) => text.startsWith('STATUS=ready, 1 entries')));
    await listen.stop();
    const messages = notified.messages();
    expect(messages.filter((text) => text === 'READY=1')).toHaveLength(1);
    expect(messages.indexOf('READY=1')).toBeLessThan(messages.indexOf('STOPPING=1'));
    expect(messages).toContain('STOPPING=1');
  });
});

describe('SIGHUP', () => {
  it('reads the log level again from the config file', async () => {
    const config = path.join(scratch, 'config.yaml');
    writeFileSync(config, 'log-level: warn\n');
    const listen = start({ args: ['-q', '--config', config].slice(1) });
    await listen.untilRunning();
    writeFileSync(config, 'log-level: nonsense\n');
    listen.child.kill('SIGHUP');
    await listen.until('a bad level is told', () => listen.stderr.includes('nonsense'));
    writeFileSync(config, 'log-level: info\n');
    listen.child.kill('SIGHUP');
    await listen.until('reread', () => listen.stderr.includes('log level is'));
    expect(await listen.stop()).toMatchObject({ code: 0 });
  });
});

describe('metrics', () => {
  it('every one of them changes when what it counts happens', async () => {
    pinnedIpcache(kernel, pin, [
      { prefix: '10.9.0.0/24', identity: 16777230 },
      { prefix: '10.8.0.1/32', identity: 999 },
    ])[Symbol.dispose]();
    const args = [
      '--metrics',
      '127.0.0.1:0',
      '--grace-period',
      '1s',
      '--max-entries',
      '6',
      '--reassert',
      '--sole-writer',
      '--stop-timeout',
      '3s',
    ];
    const listen = start({ args });
    await listen.until('port', () => /metrics on port \d+/.test(listen.stderr));
    const base = `http://127.0.0.1:${/metrics on port (\d+)/.exec(listen.stderr)?.[1]}`;
    await listen.untilRunning();
    expect((await fetch(`${base}/readyz`)).status).toBe(503);
    expect((await fetch(`${base}/healthz`)).status).toBe(200);
    expect((await fetch(`${base}/else`)).status).toBe(404);
    const before = await metrics(base);
    const text = await (await fetch(`${base}/metrics`)).text();
    const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name).sort();
    expect(before.ipc_listen_placeholders).toBe(1);

    // Not synced yet: refused, and counted.
    await listen.http('POST', '/ipc/v1/gc');
    for (let i = 1; i <= 40; i++) listen.send({ op: 'upsert', prefix: `10.8.0.${i}`, identity: 7 });
    for (const identity of [1, 2, 3, 4]) listen.send({ op: 'upsert', prefix: '10.0.0.1', identity });
    listen.send({ ...NETWORK, prefix: '198.51.100.0/24', labels: ['cidr:198.51.100.0/24'] });
    listen.send(NETWORK, 'no event', { op: 'delete', prefix: '10.0.0.1', expectIdentity: 99 });
    listen.send({ op: 'delete', prefix: '10.200.0.1' }, { op: 'upsert', prefix: '10.0.0.77', identity: 0 }, SYNCED);
    await untilReady(listen);
    await listen.until('released', () => listen.stderr.includes('released 1 placeholders'));
    const during = await metrics(base);
    expect((await fetch(`${base}/readyz`)).status).toBe(200);

    expect(during).toMatchObject({
      ipc_listen_pending: 0,
      ipc_listen_placeholders: 0,
      'ipc_listen_phase{phase="run"}': 1,
    });

    unpin(pin);
    listen.send({ op: 'upsert', prefix: '10.8.1.1', identity: 7 });
    await listen.until('pending', async () => (await metrics(base)).ipc_listen_pending === 1);
    const behind = await metrics(base);
    const other = realTrie(kernel, { name: 'ipc_other' });
    pinMap(other, pin);
    other[Symbol.dispose]();
    await listen.until('replaced', async () => (await listen.status()).map?.replaced === 1);
    await listen.until('written', async () => (await listen.status()).pending === 0);
    {
      using foreign = openPin(pin, { kernel, write: true });
      const extra = entryBytes('v2', { prefix: '10.250.0.1/32', identity: 5 });
      const changed = entryBytes('v2', { prefix: '10.8.0.2/32', identity: 666 });
      foreign.update(extra.key, extra.value);
      foreign.update(changed.key, changed.value);
    }
    await listen.until('reasserted', async () => (await listen.status()).foreign.reasserted > 0);
    expect(await listen.http('POST', '/ipc/v1/gc')).toMatchObject({ status: 200 });
    // A global identity cannot be given away here: such metadata waits, with what comes after it.
    listen.send({ ...NETWORK, prefix: '203.0.113.0/24', labels: ['reserved:kube-apiserver', 'k8s:app=shop'] });
    await listen.until('queued', async () => (await listen.status()).queued > 0);
    listen.limitFileSize(10);
    listen.send({ ...POD, prefix: '10.244.2.5', identity: 8 });
    await listen.until('no checkpoint', async () => (await listen.status()).checkpoint.failures > 0);
    listen.limitFileSize('unlimited');
    const after = await metrics(base);
    // An end that has to wait, because without a pin nothing may be written.
    unpin(pin);
    listen.send({ op: 'upsert', prefix: '10.8.1.2', identity: 7 });
    await listen.until('pending', async () => (await metrics(base)).ipc_listen_pending === 1);
    listen.child.kill('SIGTERM');
    const isDraining = async () => (await metrics(base))['ipc_listen_phase{phase="drain"}'] === 1;
    await listen.until('draining', isDraining);
    const ending = await metrics(base);
    expect((await fetch(`${base}/readyz`)).status).toBe(503);
    expect((await fetch(`${base}/healthz`)).status).toBe(200);
    expect(await listen.exit).toEqual({ code: 0, signal: null });

    const source = 'source="ndjson:-"';
    const grown: readonly (readonly [Record<string, number>, Record<string, number>, readonly string[]])[] = [
      [
        before,
        during,
        [
          'ipc_listen_entries',
          'ipc_listen_identities',
          'ipc_listen_pressure',
          'ipc_listen_ready',
          'ipc_listen_checkpoint_age_seconds',
          'ipc_listen_event_to_map_seconds_count',
          'ipc_listen_flapping_total',
          'ipc_listen_released_prefixes_total',
          'ipc_listen_stale_deletes_total',
          'ipc_listen_gc_failures_total',
          `ipc_listen_source_synced{${source}}`,
          `ipc_listen_source_connected{${source}}`,
          `ipc_listen_events_total{${source}}`,
          `ipc_listen_rejected_events_total{${source},reason="malformed"}`,
          `ipc_listen_rejected_events_total{${source},reason="unknown-key"}`,
          'ipc_listen_writes_total{outcome="written"}',
          'ipc_listen_writes_total{outcome="zeroIdentities"}',
          'ipc_listen_write_problems_total{problem="zero-identity"}',
        ],
      ],
      [
        during,
        after,
        [
          'ipc_listen_queue',
          'ipc_listen_map_replaced_total',
          'ipc_listen_checkpoint_seconds_count',
          'ipc_listen_checkpoint_failures_total',
          'ipc_listen_foreign_changes_total',
          'ipc_listen_reasserted_total',
          'ipc_listen_gc_runs_total',
          'ipc_listen_gc_deleted_total',
        ],
      ],
      [during, behind, ['ipc_listen_pending']],
      [during, before, ['ipc_listen_placeholders']],
      [after, ending, ['ipc_listen_phase{phase="drain"}']],
    ];
    const moved = new Set<string>();
    for (const [from, to, grew] of grown) {
      for (const name of grew) {
        expect(to[name] ?? 0, name).toBeGreaterThan(from[name] ?? 0);
        moved.add(name.replace(/\{.*/, '').replace(/_count$/, ''));
      }
    }
    expect([...moved].sort()).toEqual(names);
  });
});

describe('back-pressure', () => {
  it('sources wait while the map takes nothing, and nothing is lost', async () => {
    const socket = path.join(scratch, 'events.sock');
    const listen = start({ sources: [`unix:${socket}`] });
    await listen.untilRunning();
    // Without a pin nothing may be written: the slowest map there is.
    const away = `${directory.path}/away`;
    renameSync(pin, away);
    const client = connect(socket).on('error', () => {});
    const all = 200_000;
    let sent = 0;
    const send = (): void => {
      while (sent < all) {
        const n = sent++;
        const line = `{"op":"upsert","prefix":"10.${n >> 16}.${(n >> 8) & 255}.${n & 255}","identity":77}\n`;
        if (!client.write(line)) {
          client.once('drain', send);
          return;
        }
      }
      client.end('{"op":"synced"}\n');
    };
    send();
    await listen.until('it is full', async () => (await listen.status()).pending > 30_000);
    // Full is when it stays so: as many as there were a moment ago, again and again.
    let pending = 0;
    let same = 0;
    await listen.until('it stays', async () => {
      await sleep(300);
      const now = (await listen.status()).pending;
      same = now === pending ? same + 1 : 0;
      pending = now;
      return same === 3;
    });
    expect(sent).toBeLessThan(all);
    expect(pending).toBeLessThan(60_000);
    renameSync(away, pin);
    await listen.until(
      'all written',
      async () => {
        const status = await listen.status();
        return status.ready && status.pending === 0;
      },
      120_000,
    );
    expect((await listen.status()).entries).toBe(all);
    expect(Object.keys(await mapWords(pin))).toHaveLength(all);
  }, 300_000);
});

async function metrics(base: string): Promise<Record<string, number>> {
  const text = await (await fetch(`${base}/metrics`)).text();
  const values: Record<string, number> = {};
  for (const line of text.split('\n')) {
    const [, name, value] = /^([a-z_]+(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
    if (name !== undefined) values[name] = Number(value);
  }
  return values;
}
