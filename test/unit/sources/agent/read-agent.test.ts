import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentClient } from '../../../../src/lib/sources/agent/agent-client.ts';
import { visitIps } from '../../../../src/lib/sources/agent/ip-list.ts';
import { readMapEvents } from '../../../../src/lib/sources/agent/map-events.ts';
import { readAgent } from '../../../../src/lib/sources/agent/read-agent.ts';
import type { SourceRecord } from '../../../../src/lib/sources/source.ts';
import { type FakeAnswer, fakeAgent } from '../../../support/fake-agent.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'ipc-socket-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const request = { timeoutMs: 5_000 };
const VALUE = 'identity=41234 encryptkey=0 tunnelendpoint=192.0.2.10 flags=hastunnel';
const cached = (key: string, value = VALUE, action = 'sync') => ({ key, value, 'desired-action': action });
const map = (...cache: object[]) => JSON.stringify({ path: '/sys/fs/bpf/tc/globals/cilium_ipcache_v2', cache });

async function reading(answers: Record<string, FakeAnswer>, pin?: string) {
  await using agent = await fakeAgent(answers);
  const records: SourceRecord[] = [];
  const client = new AgentClient(agent.socket);
  const result = await readAgent(client, { pin, rank: 'api', visit: (record) => records.push(record) }, request);
  return { ...result, records, asked: agent.asked };
}

describe('readAgent()', () => {
  it('has cluster IDs, tunnels and flags from the memory of the map, without what is to be deleted', async () => {
    const body = map(
      cached('10.12.0.7/32'),
      cached(
        '10.12.0.7/32@5',
        'identity=327690 encryptkey=3 tunnelendpoint=0.0.0.0 flags=remotecluster',
        'to-be-inserted',
      ),
      cached('10.12.0.8/32', VALUE, 'to-be-deleted'),
    );
    const { by, records, asked } = await reading({ '/map/cilium_ipcache_v2': body });
    expect([by, asked]).toEqual(['map', ['/map/cilium_ipcache_v2']]);
    expect(records).toEqual([
      { key: '10.12.0.7/32', source: 'api', identity: 41234, encryptKey: 0, tunnelEndpoint: '192.0.2.10', flags: 2 },
      { key: '10.12.0.7/32@5', source: 'api', identity: 327690, encryptKey: 3, flags: 8 },
    ]);
  });

  it('asks for the older map when the newer one is unknown, and only for the one that is looked at', async () => {
    const older = { '/map/cilium_ipcache': map(cached('10.0.0.0/8')) };
    expect((await reading(older)).asked).toEqual(['/map/cilium_ipcache_v2', '/map/cilium_ipcache']);
    expect((await reading(older, '/sys/fs/bpf/tc/globals/cilium_ipcache')).asked).toEqual(['/map/cilium_ipcache']);
  });

  it('has the addresses where the agent does not keep what it wrote', async () => {
    const ip = { cidr: '10.12.0.7', identity: 41234, hostIP: '192.0.2.10', encryptKey: 3 };
    const metadata = { source: 'kvstore', namespace: 'shop', name: 'cart-0' };
    for (const cache of ['{"path":"/x"}', '{"path":"/x","cache":null}']) {
      const { by, records } = await reading({
        '/map/cilium_ipcache_v2': cache,
        '/ip': JSON.stringify([
          { ...ip, metadata },
          { cidr: '0.0.0.0/0', identity: 2 },
        ]),
      });
      expect(by).toBe('ip');
      expect(records).toEqual([
        {
          key: '10.12.0.7/32',
          identity: 41234,
          source: 'kvstore',
          hostIP: '192.0.2.10',
          encryptKey: 3,
          pod: { namespace: 'shop', name: 'cart-0' },
        },
        { key: '0.0.0.0/0', identity: 2, source: 'api', hostIP: undefined, encryptKey: 0, pod: undefined },
      ]);
    }
  });

  it.each<[string, Record<string, FakeAnswer>]>([
    ['an empty memory', { '/map/cilium_ipcache_v2': map() }],
    ['no memory and no addresses', {}],
    ['an empty list', { '/ip': '[]' }],
  ])('takes %s for an agent that has not synchronised', async (_, answers) => {
    await expect(reading(answers)).rejects.toMatchObject({ code: 'SOURCE_NOT_SYNCED', exitCode: 8 });
  });

  it.each<[string, FakeAnswer, string]>([
    ['text', 'not found', 'not JSON'],
    ['nothing', '', 'it is empty'],
    ['half a document', '{"cache":[{"key":"10.0.0.0/8",', 'ends too early'],
    ['a broken entry', '{"cache":[{"key":}]}', 'not JSON'],
    ['another map', map(cached('3', 'x')), 'not that of an ipcache'],
  ])('refuses %s', async (_, answer, state) => {
    await expect(reading({ '/map/cilium_ipcache_v2': answer, '/ip': '{}' })).rejects.toMatchObject({
      code: 'AGENT_ANSWER',
      exitCode: 9,
      message: expect.stringMatching(state),
    });
  });

  it('reads many entries piece by piece', async () => {
    const { records } = await reading({
      '/map/cilium_ipcache_v2': (_, response) => {
        response.write('{"path":"/x","cache":[');
        for (let i = 0; i < 50; i++) {
          const entries = Array.from({ length: 1_000 }, (_, j) =>
            JSON.stringify(cached(`10.${i}.${j >> 8}.${j & 255}/32`)),
          );
          response.write(`${i === 0 ? '' : ','}${entries.join(',')}`);
        }
        response.end(']}');
      },
    });
    expect(records).toHaveLength(50_000);
    expect(records.at(-1)?.key).toBe('10.49.3.231/32');
  });
});

describe('AgentClient.read()', () => {
  const read = (socket: string, options = {}) =>
    new AgentClient(socket).read('/ip', { ...request, ...options }, () => {});
  const against = async (answer: FakeAnswer, options = {}) => {
    await using agent = await fakeAgent({ '/ip': answer });
    return await read(agent.socket, options);
  };

  it('says that there is no socket, or nobody behind it', async () => {
    await expect(read(path.join(folder, 'none'))).rejects.toMatchObject({
      code: 'AGENT_UNREACHABLE',
      exitCode: 8,
      message: expect.stringContaining('no such socket'),
    });
    const file = path.join(folder, 'file');
    writeFileSync(file, '');
    chmodSync(file, 0o666);
    await expect(read(file)).rejects.toMatchObject({ exitCode: 8, message: expect.stringContaining('nobody listens') });
  });

  it('waits only so long for an agent that is silent before or within its answer', async () => {
    const silent = expect.objectContaining({
      code: 'AGENT_UNREACHABLE',
      message: expect.stringContaining('within 0.2 s'),
    });
    await expect(against(() => {}, { timeoutMs: 200 })).rejects.toEqual(silent);
    await expect(against((_, response) => response.write('['), { timeoutMs: 200 })).rejects.toEqual(silent);
  });

  it('stops at once when it is told to', async () => {
    const controller = new AbortController();
    const reason = new Error('stop');
    setTimeout(() => controller.abort(reason), 50);
    await expect(against(() => {}, { signal: controller.signal })).rejects.toBe(reason);
  });

  it('does not read an answer that is too large', async () => {
    let sent = 0;
    const endless: FakeAnswer = (_, response) => {
      const more = (): void => {
        while (response.write('x'.repeat(65_536)) && !response.destroyed) sent += 65_536;
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    };
    await expect(against(endless, { maxBytes: 1_000_000 })).rejects.toMatchObject({
      code: 'AGENT_ANSWER',
      message: expect.stringContaining('larger than 1000000 bytes'),
    });
    expect(sent).toBeLessThan(4_000_000);
  });

  it('tells other statuses, broken answers and other protocols', async () => {
    await expect(against(500)).rejects.toMatchObject({ code: 'AGENT_STATUS', exitCode: 8, operands: { status: 500 } });
    const breaking: FakeAnswer = (_, response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('[');
      setTimeout(() => response.destroy(), 20);
    };
    await expect(against(breaking)).rejects.toMatchObject({ message: expect.stringContaining('broke off') });
    const socket = path.join(folder, 'other.sock');
    const server = createServer((connection) => connection.resume().end('SSH-2.0-x\r\n'));
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    await expect(read(socket)).rejects.toMatchObject({ message: expect.stringContaining('does not speak HTTP') });
    await new Promise((resolve) => server.close(resolve));
  });

  it('has nothing for 404', async () => {
    expect(await against(404)).toBe(false);
    expect(await against('[]')).toBe(true);
  });
});

describe('readMapEvents()', () => {
  const event = (time: string, key: string, action: string, value = VALUE, error = '<nil>') =>
    JSON.stringify({ timestamp: time, key, value, action, 'desired-action': 'sync', 'last-error': error });
  const events = async (body: FakeAnswer, most = 10) => {
    await using agent = await fakeAgent({ '/map/cilium_ipcache_v2/events': body });
    return await readMapEvents(new AgentClient(agent.socket), { prefix: '10.0.0.0/8', most }, request);
  };

  it('keeps the newest ones of the prefix, with what was written', async () => {
    const body = [
      event('2026-01-02T03:04:05.006Z', '10.0.0.0/8', 'update'),
      event('2026-01-02T03:04:06.006Z', '10.0.0.0/9', 'update'),
      event('2026-01-02T05:04:07.006123456+02:00', '10.0.0.0/8', 'delete', '<nil>', 'no such entry'),
      event('2026-01-02T03:04:08.006Z', '10.0.0.0/8', 'sync'),
      event('', '10.0.0.0/8', 'update'),
    ].join('\n');
    const first = {
      time: '2026-01-02T03:04:05.006Z',
      action: 'update',
      value: { identity: 41234, encryptKey: 0, tunnelEndpoint: '192.0.2.10', flags: 2 },
    };
    const second = { time: '2026-01-02T03:04:07.006Z', action: 'delete', error: 'no such entry' };
    expect(await events(body)).toEqual([first, second]);
    expect(await events(body, 1)).toEqual([second]);
  });

  it('tells an agent without a buffer from one without events', async () => {
    expect(await events('')).toEqual([]);
    expect(await events(404)).toBeUndefined();
  });
});

describe('visitIps()', () => {
  it('asks for what lies within a prefix', async () => {
    await using agent = await fakeAgent({ '/ip': '[]' });
    expect(await visitIps(new AgentClient(agent.socket), { within: '10.0.0.0/8', visit: () => {} }, request)).toBe(0);
    expect(agent.asked).toEqual(['/ip?cidr=10.0.0.0%2F8']);
  });

  it.each(['[{"cidr":"x","identity":1}]', '[{"cidr":"10.0.0.1"}]', '[{"cidr":"10.0.0.1","identity":-1}]', '{}'])(
    'refuses %s',
    async (body) => {
      await using agent = await fakeAgent({ '/ip': body });
      await expect(visitIps(new AgentClient(agent.socket), { visit: () => {} }, request)).rejects.toMatchObject({
        code: 'AGENT_ANSWER',
      });
    },
  );
});
