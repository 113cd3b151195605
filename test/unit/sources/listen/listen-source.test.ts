import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { ListenSource } from '../../../../src/lib/sources/listen/listen-source.ts';
import type { SourceEvent, SourceRecord } from '../../../../src/lib/sources/source.ts';
import { type FakeAgent, fakeAgent } from '../../../support/fake-agent.ts';

const open: FakeAgent[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
});

const HEAD = { kind: 'listen-dump', schemaVersion: 1, synced: true };
const POD = {
  prefix: '10.0.0.1/32',
  endpoint: true,
  identity: 1001,
  source: 'api',
  hostIP: '192.0.2.9',
  encryptKey: 3,
};
const END = { end: true, entries: 1, queued: 0, pending: 0 };

/** A control socket whose dump has these lines. */
async function listen(...lines: object[]) {
  const dump = { lines };
  const server = await fakeAgent({
    '/ipc/v1/dump': (_request, response) =>
      void response.end(dump.lines.map((line) => `${JSON.stringify(line)}\n`).join('')),
  });
  open.push(server);
  const source = new ListenSource({ name: 'listen', rank: 'api', socket: server.socket });
  const read = async (timeoutMs = 300) => {
    const records: SourceRecord[] = [];
    const reading = await source.read((record) => records.push(record), { timeoutMs });
    return { ...reading, all: records };
  };
  return { dump, source, read, server };
}

describe('ListenSource.read()', () => {
  it('has the records of its cache, without what is shadowed', async () => {
    const cidr = {
      prefix: '10.0.0.0/24@2',
      identity: 131_073,
      source: 'restored',
      labels: ['cidr:10.0.0.0/24'],
      encryptKey: 0,
    };
    const { read, source } = await listen(HEAD, POD, { ...POD, endpoint: false, shadowed: true }, cidr, END);
    const { records, all } = await read();
    expect(records).toBe(2);
    expect(all).toMatchObject([
      { key: '10.0.0.1', identity: 1001, source: 'api', hostIP: '192.0.2.9', encryptKey: 3 },
      { key: '10.0.0.0/24@2', identity: 131_073, source: 'restored', labels: ['cidr:10.0.0.0/24'] },
    ]);
    expect(source.speaksFor('global', 'ipv4', 2)).toBe(true);
    expect(source.speaksFor('global', 'ipv6', 0)).toBe(false);
  });

  it.each([
    ['its sources are not complete', [{ ...HEAD, synced: false }, END]],
    ['prefixes wait to be resolved', [HEAD, POD, { ...END, queued: 3 }]],
  ])('asks again while %s, until the time is over', async (_what, lines) => {
    const { dump, read } = await listen(...lines);
    await expect(read()).rejects.toMatchObject({ code: 'SOURCE_NOT_SYNCED', exitCode: 8 });
    setTimeout(() => {
      dump.lines = [HEAD, POD, END];
    }, 100);
    expect((await read(2000)).records).toBe(1);
  });

  it('an answer without its end is malformed; nobody there is said at once', async () => {
    const { read, server } = await listen(HEAD, POD);
    await expect(read()).rejects.toMatchObject({ code: 'LISTEN_ANSWER', exitCode: 9 });
    await server[Symbol.asyncDispose]();
    open.length = 0;
    await expect(read()).rejects.toMatchObject({ code: 'LISTEN_UNREACHABLE', exitCode: 8 });
  });
});

describe('ListenSource.follow()', () => {
  it('tells what is different from the time before', async () => {
    const { dump, source } = await listen(HEAD, POD, END);
    const told: string[] = [];
    const stop = new AbortController();
    const words = (event: SourceEvent): string => {
      if (event.op === 'upsert') return `+ ${event.record.key} ${event.record.identity} ${event.record.source}`;
      return event.op === 'delete' ? `- ${event.key} ${event.source}` : event.op;
    };
    const following = source.follow(
      { event: (event) => told.push(words(event)), synced: () => told.push('synced'), lost: () => told.push('lost') },
      { signal: stop.signal },
    );
    const until = async (count: number) => {
      for (let i = 0; i < 300 && told.length < count; i++) await sleep(20);
      return told.splice(0);
    };
    expect(await until(2)).toEqual(['+ 10.0.0.1 1001 api', 'synced']);
    dump.lines = [HEAD, { ...POD, source: 'k8s' }, { ...POD, prefix: '10.0.0.2/32' }, END];
    expect(await until(4)).toEqual(['- 10.0.0.1 api', '+ 10.0.0.1 1001 k8s', '+ 10.0.0.2 1001 api', 'synced']);
    dump.lines = [{ ...HEAD, synced: false }, END];
    expect(await until(1)).toEqual(['lost']);
    stop.abort();
    await following;
  });
});
