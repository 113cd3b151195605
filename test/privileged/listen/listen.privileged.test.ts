import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pinMap, unpin } from '../../../src/lib/bpf/pin.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import type { StateCheckpoint } from '../../../src/lib/state/checkpoint.ts';
import { type InstalledProgram, installProgram } from '../../support/installed-program.ts';
import { type ListenOptions, ListenProcess, mapWords } from '../../support/listen-process.ts';
import { entryBytes, pinnedIpcache } from '../../support/pinned-ipcache.ts';
import { type PinDirectory, pinDirectory, realTrie } from '../../support/real-kernel.ts';

const kernel = new LinuxKernel();
const SYNCED = { op: 'synced' };
const LOCAL = {
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
  directory = pinDirectory('listen');
  scratch = mkdtempSync(path.join(tmpdir(), 'ipc-listen-'));
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

function upsert(prefix: string, identity: number, more: object = {}): object {
  return { op: 'upsert', prefix, identity, ...more };
}

function checkpoint(): StateCheckpoint {
  return JSON.parse(readFileSync(path.join(scratch, 'state', 'checkpoint.json'), 'utf8')) as StateCheckpoint;
}

async function untilMap(listen: ListenProcess, wanted: Record<string, string>): Promise<void> {
  let last: unknown;
  await listen.until(`map ${JSON.stringify(wanted)}`, async () => {
    last = existsSync(pin) ? await mapWords(pin) : undefined;
    return JSON.stringify(sorted(last)) === JSON.stringify(sorted(wanted));
  });
}

function sorted(value: unknown): unknown {
  return Object.entries(value ?? {}).sort();
}

describe('ipc listen', () => {
  it('makes the map and keeps it like what its sources say', async () => {
    const listen = start({ args: ['--underlay', 'ipv4', '--node-ipv4', '192.0.2.1'] });
    listen.send(
      upsert('10.0.0.1', 1234, { hostIP: '192.0.2.9', encryptKey: 3 }),
      upsert('10.0.0.2', 1234, { hostIP: '192.0.2.1' }),
      upsert('10.0.0.3', 1234),
      LOCAL,
      { op: 'delete', prefix: '10.0.0.3', expectIdentity: 1234 },
      { IP: '10.0.0.4', Mask: null, HostIP: '192.0.2.9', ID: 77, Key: 0, Metadata: '' },
      '{"type":"agent","subtype":"IPCache entry upserted","message":{"cidr":"10.0.0.5/32","id":78,"encrypt-key":0}}',
    );
    await untilMap(listen, {
      '10.0.0.1/32': '1234 via 192.0.2.9 key 3',
      '10.0.0.2/32': '1234',
      '192.0.2.0/24': '16777217',
      '10.0.0.4/32': '77 via 192.0.2.9',
      '10.0.0.5/32': '78',
    });
    expect(await listen.stop()).toEqual({ code: 0, signal: null });
    expect(listen.stdout).toContain('5 entries after 7 events');
  });

  it('op 40: a late delete that expects another identity is dropped and counted', async () => {
    const listen = start();
    listen.send(upsert('10.0.0.1', 1234), upsert('10.0.0.1', 4321));
    listen.send({ op: 'delete', prefix: '10.0.0.1', expectIdentity: 1234 }, SYNCED);
    await listen.until('synced', async () => (await listen.status()).ready);
    expect(await mapWords(pin)).toEqual({ '10.0.0.1/32': '4321' });
    expect((await listen.status()).sources[0]?.staleDeletes).toBe(1);
  });

  it('op 41: what a full map cannot take is pending, and written by itself once there is room', async () => {
    const listen = start({ args: ['--max-entries', '4'] });
    for (let i = 1; i <= 5; i++) listen.send(upsert(`10.0.0.${i}`, 1000 + i));
    await listen.until('stall', async () => (await listen.status()).stall === 'map full 4/4');
    expect((await listen.status()).pending).toBe(1);
    expect(Object.keys(await mapWords(pin))).toHaveLength(4);
    const [gone] = Object.keys(await mapWords(pin));
    listen.send({ op: 'delete', prefix: gone?.replace('/32', '') });
    await listen.until('nothing pending', async () => (await listen.status()).pending === 0);
    expect(Object.keys(await mapWords(pin))).toHaveLength(4);
  });

  it('op 45: bad lines are named, counted and passed over; with --strict the first one ends it', async () => {
    const lines = [
      upsert('10.0.0.1', 1),
      '{"IP":"10.0.0.2","Mask":null,"ID":2}',
      '{"IP":null,"ID":3}',
      '{"op":"upsert","prefix":"10.0.0.4"',
    ];
    const listen = start();
    listen.send(...lines);
    await untilMap(listen, { '10.0.0.1/32': '1', '10.0.0.2/32': '2' });
    await listen.until('two bad lines', async () => (await listen.status()).badLines === 2);
    expect(listen.stderr).toMatch(/line 3 of -/);
    expect(listen.stderr).toMatch(/line 4 of -/);
    expect((await listen.status()).sources[0]?.rejected).toEqual({ malformed: 2 });
    await listen.stop();

    const strict = start({ args: ['--strict'] });
    strict.send(...lines);
    expect(await strict.exit).toEqual({ code: 9, signal: null });
    expect(strict.stderr).toMatch(/Error: Cannot use line 3 of -: IP is missing|Error: Cannot use line 3 of -: /);
    expect(checkpoint().writer?.drained).toBe(true);
  });

  it('op 46: another map under the pin is noticed and filled, the old one is left alone', async () => {
    const listen = start();
    listen.send(upsert('10.0.0.1', 1), SYNCED);
    await untilMap(listen, { '10.0.0.1/32': '1' });
    unpin(pin);
    const other = realTrie(kernel, { name: 'ipc_other' });
    pinMap(other, pin);
    other[Symbol.dispose]();
    await untilMap(listen, { '10.0.0.1/32': '1' });
    expect(listen.stderr).toContain('another map is under the pin');
    expect((await listen.status()).map?.replaced).toBe(1);
    listen.send(upsert('10.0.0.2', 2));
    await untilMap(listen, { '10.0.0.1/32': '1', '10.0.0.2/32': '2' });
    expect(await listen.stop()).toEqual({ code: 0, signal: null });
  });

  it('op 46: it stops with 13 when the other map has another writer', async () => {
    const listen = start();
    listen.send(upsert('10.0.0.1', 1), SYNCED);
    await untilMap(listen, { '10.0.0.1/32': '1' });
    unpin(pin);
    using other = realTrie(kernel, { name: 'ipc_other' });
    pinMap(other, pin);
    expect(await listen.exit).toEqual({ code: 13, signal: null });
    expect(listen.stderr).toContain('holds the map read-write');
    expect(await mapWords(pin)).toEqual({});
  });

  it('op 47: an event for one cluster with a number of another is rejected', async () => {
    const listen = start();
    listen.send(upsert('10.0.0.1@2', 106300), upsert('10.0.0.2@2', 131072 + 40), SYNCED);
    await untilMap(listen, { '10.0.0.2/32@2': '131112' });
    expect(listen.stderr).toContain('106300 is of cluster 1, not of cluster 2');
    expect((await listen.status()).badLines).toBe(1);
  });

  it('op 48: SIGTERM right after a change: the checkpoint has it', async () => {
    const listen = start();
    await listen.untilRunning();
    listen.send(LOCAL);
    expect(await listen.stop()).toEqual({ code: 0, signal: null });
    expect(checkpoint()).toMatchObject({
      writer: { drained: true },
      pending: [],
      identities: [{ identity: 16777217, prefixes: ['192.0.2.0/24'], labelsFrom: 'listen' }],
    });
    expect(await mapWords(pin)).toEqual({ '192.0.2.0/24': '16777217' });
  });

  it('op 48: after SIGKILL the next start says what may be missing, and numbers are kept', async () => {
    const listen = start();
    listen.send({ ...LOCAL, prefix: '198.51.100.0/24', labels: ['cidr:198.51.100.0/24'] }, LOCAL, SYNCED);
    await listen.until('two identities in the checkpoint', () => {
      const file = path.join(scratch, 'state', 'checkpoint.json');
      return existsSync(file) && readFileSync(file, 'utf8').includes('192.0.2.0/24');
    });
    const before = await mapWords(pin);
    expect(await listen.stop('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });

    const next = start({ args: ['--grace-period', '0'] });
    await next.untilRunning();
    expect(next.stderr).toContain('the last run did not end in order');
    expect(await mapWords(pin)).toEqual(before);
    next.send(LOCAL, SYNCED);
    await untilMap(next, { '192.0.2.0/24': before['192.0.2.0/24'] ?? '' });
    // Told when the map has it.
    await next.until('release', () => next.stderr.includes('released 2 placeholders; 1 identities are free'));
  });

  it('op 49: three changes of identity within a minute are one flapping event', async () => {
    const listen = start();
    for (const identity of [1, 2, 3, 4, 5, 6]) listen.send(upsert('10.0.0.1', identity));
    await untilMap(listen, { '10.0.0.1/32': '6' });
    await listen.until('told', () => listen.stderr.includes('is flapping'));
    expect(listen.stderr.match(/is flapping/g)).toHaveLength(1);
    expect(listen.stderr).toContain('its identity went 1 → 2 → 3 → 4 within a minute');
  });

  it('restores numbers whose labels nobody knows, and releases them only after the sync', async () => {
    pinnedIpcache(kernel, pin, [
      { prefix: '10.1.0.0/24', identity: 16777220 },
      { prefix: '10.2.0.0/24', identity: 16777220 },
      { prefix: '10.3.0.0/24', identity: 16777225 },
      { prefix: '10.4.0.0/16', identity: 5555 },
      { prefix: '10.244.2.5/32', identity: 8 },
    ])[Symbol.dispose]();
    const before = await mapWords(pin);
    const listen = start({ args: ['--grace-period', '500ms', '--sole-writer'] });
    await listen.untilRunning();
    await sleep(1000);
    expect(await mapWords(pin)).toEqual(before);
    listen.send(
      { ...LOCAL, prefix: '10.3.0.0/24', labels: [] },
      { ...LOCAL, prefix: '10.9.0.0/24', labels: [] },
      SYNCED,
    );
    await listen.until('release', () => listen.stderr.includes('released 3 placeholders'));
    const after = await mapWords(pin);
    expect(after['10.3.0.0/24']).toBe('16777225');
    expect(after['10.9.0.0/24']).toMatch(/^1677721[0-9]$|^16777[0-9]+$/);
    expect(['16777220', '16777225']).not.toContain(after['10.9.0.0/24']);
    expect(after).not.toHaveProperty('10.1.0.0/24');
    expect(after).toMatchObject({ '10.4.0.0/16': '5555', '10.244.2.5/32': '8' });
  });

  it('--no-restore begins with nothing, and touches nothing that no source speaks for', async () => {
    pinnedIpcache(kernel, pin, [{ prefix: '10.1.0.0/24', identity: 16777220 }])[Symbol.dispose]();
    const listen = start({ args: ['--no-restore', '--grace-period', '0'] });
    listen.send(LOCAL, SYNCED);
    await untilMap(listen, { '10.1.0.0/24': '16777220', '192.0.2.0/24': '16777217' });
    expect(listen.stderr).not.toContain('restored');
  });

  it('--recreate puts a new map in the place of the old one, with what was restored', async () => {
    const old = pinnedIpcache(kernel, pin, [
      { prefix: '10.1.0.0/24', identity: 16777220 },
      { prefix: '10.4.0.0/16', identity: 5555 },
    ]);
    const id = old.info.id;
    old[Symbol.dispose]();
    const listen = start({ args: ['--recreate'] });
    await listen.untilRunning();
    await untilMap(listen, { '10.1.0.0/24': '16777220' });
    expect((await listen.status()).map?.id).not.toBe(id);
    expect(existsSync(`${pin}_pending`)).toBe(false);
  });

  it('several sources: the stronger one is seen, and what it hid comes back', async () => {
    const file = path.join(scratch, 'events.ndjson');
    writeFileSync(file, `${JSON.stringify(upsert('10.0.0.1', 11))}\n`);
    const socket = path.join(scratch, 'events.sock');
    const listen = start({ sources: [`name=file,rank=kvstore,ndjson:${file}`, `name=vms,unix:${socket}`, 'ndjson:-'] });
    await untilMap(listen, { '10.0.0.1/32': '11' });
    const clients = [connect(socket), connect(socket)];
    clients[0]?.write(`${JSON.stringify(upsert('10.0.0.1', 22))}\n{"op":`);
    clients[1]?.write(`${JSON.stringify(upsert('10.0.0.2', 33))}\nno event\n`);
    clients[0]?.write('"synced"}\n');
    await untilMap(listen, { '10.0.0.1/32': '11', '10.0.0.2/32': '33' });
    expect(listen.stderr).toContain(`line 2 of ${socket} (client 2): it is not JSON`);
    appendFileSync(file, `${JSON.stringify({ op: 'delete', prefix: '10.0.0.1' })}\n`);
    await untilMap(listen, { '10.0.0.1/32': '22', '10.0.0.2/32': '33' });
    for (const client of clients) client.destroy();
    const { sources } = await listen.status();
    expect(sources.map(({ name, condition }) => [name, condition])).toEqual([
      ['file', 'synced'],
      ['vms', 'synced'],
      ['ndjson:-', 'starting'],
    ]);
  });

  it('--require-sync ends with 8 and names the source that is not complete', async () => {
    const listen = start({ sources: [`ndjson:${scratch}/missing`], args: ['--require-sync', '300ms'] });
    expect(await listen.exit).toEqual({ code: 8, signal: null });
    expect(listen.stderr).toMatch(/not synced within 0\.3 s: ndjson:.*missing/);
    expect(listen.stderr).toMatch(/is lost: .*no such file/);
  });

  it('a second one on the same state or pin is refused with 11', async () => {
    const listen = start();
    await listen.untilRunning();
    const second = start({ socket: 'other.sock' });
    expect(await second.exit).toEqual({ code: 11, signal: null });
    expect(second.stderr).toContain(String(listen.child.pid));
  });

  it('what somebody else changes is noticed, and written again with --reassert until it is a fight', async () => {
    const listen = start({ args: ['--reassert', '--sole-writer'] });
    listen.send(upsert('10.0.0.1', 1), upsert('10.0.0.2', 2), SYNCED);
    await untilMap(listen, { '10.0.0.1/32': '1', '10.0.0.2/32': '2' });
    using foreign = await openForeign();
    const { key, value } = entryBytes('v2', { prefix: '10.0.0.1/32', identity: 666 });
    foreign.update(key, value);
    await listen.until('reasserted', async () => (await listen.status()).foreign.reasserted === 1);
    await untilMap(listen, { '10.0.0.1/32': '1', '10.0.0.2/32': '2' });
    expect(listen.stderr).toContain('10.0.0.1/32 was changed by somebody else: identity 666 instead of identity 1');
    for (const end = Date.now() + 60_000; (await listen.status()).foreign.givenUp === 0 && Date.now() < end; ) {
      foreign.update(key, value);
      await sleep(200);
    }
    expect((await listen.status()).foreign).toMatchObject({ givenUp: 1, reasserted: 3 });
    await sleep(300);
    expect(await mapWords(pin)).toEqual({ '10.0.0.1/32': '666', '10.0.0.2/32': '2' });
  });

  it('what somebody else changes is noticed, counted once, and left alone without --reassert', async () => {
    const listen = start({ args: ['--sole-writer'] });
    listen.send(upsert('10.0.0.1', 1), upsert('10.0.0.2', 2), SYNCED);
    await untilMap(listen, { '10.0.0.1/32': '1', '10.0.0.2/32': '2' });
    using foreign = await openForeign();
    const changed = entryBytes('v2', { prefix: '10.0.0.1/32', identity: 666 });
    foreign.update(changed.key, changed.value);
    foreign.delete(entryBytes('v2', { prefix: '10.0.0.2/32', identity: 2 }).key);
    await listen.until('noticed', async () => (await listen.status()).foreign.changes === 2);
    expect(listen.stderr).toContain('10.0.0.2/32 was changed by somebody else: nothing instead of identity 2');
    // Longer than the pause between two rounds.
    await sleep(6000);
    expect((await listen.status()).foreign).toEqual({ changes: 2, reasserted: 0, givenUp: 0 });
    expect(await mapWords(pin)).toEqual({ '10.0.0.1/32': '666' });
    listen.send(upsert('10.0.0.1', 3));
    await untilMap(listen, { '10.0.0.1/32': '3' });
  });

  it('what the map does not take in time is in the checkpoint as pending, and the next start writes what it is told', async () => {
    const listen = start({ args: ['--max-entries', '1', '--stop-timeout', '500ms'] });
    listen.send(upsert('10.0.0.1', 1));
    await untilMap(listen, { '10.0.0.1/32': '1' });
    listen.send(upsert('10.0.0.2', 2, { encryptKey: 3 }));
    await listen.until('stall', async () => (await listen.status()).stall === 'map full 1/1');
    expect(await listen.stop('SIGINT')).toEqual({ code: 0, signal: null });
    expect(listen.stdout).toContain('remembered as pending');
    expect(checkpoint()).toMatchObject({
      writer: { drained: true },
      pending: [{ op: 'upsert', prefix: '10.0.0.2/32', identity: 2, encryptKey: 3, errno: 'ENOSPC' }],
    });
  });

  it('an end without a place for the checkpoint writes the map, says so, and ends with 1', async () => {
    const listen = start();
    listen.send(LOCAL, SYNCED);
    await untilMap(listen, { '192.0.2.0/24': '16777217' });
    await listen.until('a checkpoint', () => existsSync(path.join(scratch, 'state', 'checkpoint.json')));
    listen.limitFileSize(10);
    listen.send(upsert('10.0.0.1', 1));
    expect(await listen.stop()).toEqual({ code: 1, signal: null });
    expect(listen.stderr).toMatch(/Error: Cannot write .*checkpoint\.json: EFBIG/);
    expect(await mapWords(pin)).toEqual({ '192.0.2.0/24': '16777217', '10.0.0.1/32': '1' });
    expect(checkpoint().writer?.drained).toBe(false);

    const next = start();
    await next.untilRunning();
    expect(next.stderr).toContain('the last run did not end in order');
  });

  it('refuses sources of another version, and a config file with keys that are none', async () => {
    for (const source of ['etcd:http://127.0.0.1:1', 'k8s']) {
      const listen = start({ sources: [source] });
      expect(await listen.exit).toEqual({ code: 2, signal: null });
      expect(listen.stderr).toMatch(/this version of ipc cannot follow (etcd|k8s)/);
    }
    const config = path.join(scratch, 'config.yaml');
    writeFileSync(config, 'listen:\n  sorce: x\n');
    const bad = start({ args: ['--config', config] });
    expect(await bad.exit).toEqual({ code: 2, signal: null });
    expect(bad.stderr).toMatch(/listen\.sorce in .*config\.yaml, line 2: no such key\n.*did you mean source\?/);
    writeFileSync(
      config,
      `listen:\n  source: ['name=f,rank=kvstore,ndjson:${scratch}/f', 'ndjson:-']\n  gc-interval: 0\n  ipv6: no\n  strict: true\n`,
    );
    writeFileSync(`${scratch}/f`, `${JSON.stringify(upsert('10.0.0.1', 7))}\n`);
    const good = start({ sources: [], args: ['--config', config] });
    await untilMap(good, { '10.0.0.1/32': '7' });
    expect((await good.status()).sources.map(({ name, rank }) => `${name} ${rank}`)).toEqual([
      'f kvstore',
      'ndjson:- api',
    ]);
    good.send(upsert('fd00::1', 7));
    await good.until('no IPv6', async () => (await good.status()).sources[1]?.rejected.family === 1);
    good.send('no event');
    expect(await good.exit).toEqual({ code: 9, signal: null });
  });

  it('bounds the length of a line, and goes on after it', async () => {
    const listen = start();
    listen.send(`{"op":"${'x'.repeat(3 << 20)}"}`, upsert('10.0.0.1', 1));
    await untilMap(listen, { '10.0.0.1/32': '1' });
    expect(listen.stderr).toContain('Cannot use line 1 of -: it is longer than 1048576 bytes');
    expect((await listen.status()).badLines).toBe(1);
  });

  it('garbage collection deletes what no source has, with a backup, and nothing before the sync', async () => {
    pinnedIpcache(
      kernel,
      pin,
      Array.from({ length: 20 }, (_, i) => ({ prefix: `10.0.0.${i}/32`, identity: 1000 + i })),
    )[Symbol.dispose]();
    const listen = start();
    for (let i = 0; i < 18; i++) listen.send(upsert(`10.0.0.${i}`, 1000 + i));
    await listen.until('events', async () => (await listen.status()).entries === 18);
    expect(await listen.http('POST', '/ipc/v1/gc')).toMatchObject({ status: 409 });
    listen.send(SYNCED);
    await listen.until('ready', async () => (await listen.status()).ready);
    const { status, text } = await listen.http('POST', '/ipc/v1/gc');
    expect({ status, ...(JSON.parse(text) as object) }).toMatchObject({ status: 200, stale: 2, deleted: 2 });
    expect(existsSync((JSON.parse(text) as { backup: string }).backup)).toBe(true);
    expect(Object.keys(await mapWords(pin))).toHaveLength(18);
    expect((await listen.status()).gc).toMatchObject({ runs: 1, deleted: 2, failures: 1 });
  });
});

async function openForeign() {
  const { openPin } = await import('../../../src/lib/bpf/open-pin.ts');
  return openPin(pin, { kernel, write: true });
}
