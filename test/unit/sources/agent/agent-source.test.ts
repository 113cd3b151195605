import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { UnreachableError } from '../../../../src/lib/errors.ts';
import { AgentSource } from '../../../../src/lib/sources/agent/agent-source.ts';
import type { SourceEvent } from '../../../../src/lib/sources/source.ts';
import { HEALTHY, ScriptedAgent } from '../../../support/scripted-agent.ts';

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

async function started(prepare: (agent: ScriptedAgent) => void = () => {}) {
  const agent = new ScriptedAgent();
  prepare(agent);
  await agent.start();
  const source = new AgentSource({ name: 'agent', rank: 'api', socket: agent.socket, now: Date.now });
  open.push(agent, source);
  const read = async (isFresh = false, timeoutMs = 20_000) => {
    const keys: string[] = [];
    const visit = ({ key, identity }: { key: string; identity: number }) => keys.push(`${key} ${identity}`);
    const { records } = await source.read(visit, { timeoutMs, isFresh });
    expect(keys).toHaveLength(records);
    return keys.sort();
  };
  return { agent, source, read };
}

const old = (agent: ScriptedAgent) => agent.event('update', '10.0.0.9/32', 1009, 60_000);

describe('AgentSource.read()', () => {
  it('lists once, and then knows from the events', async () => {
    const { agent, read } = await started(old);
    expect(await read()).toEqual(['10.0.0.1/32 1001', '10.0.0.2/32 1002']);
    agent.event('update', '10.0.0.3/32', 1003);
    agent.event('delete', '10.0.0.1/32');
    agent.event('update', '10.0.0.2/32@3', 1004);
    const changed = ['10.0.0.2/32 1002', '10.0.0.2/32@3 1004', '10.0.0.3/32 1003'];
    await vi.waitFor(async () => expect(await read()).toEqual(changed), { timeout: 20_000 });
    expect(agent.listings).toBe(1);
  });

  it('a fresh reading is a listing', async () => {
    const { agent, read } = await started();
    await read();
    agent.entries = { '10.0.0.7/32': 1007 };
    expect(await read(true)).toEqual(['10.0.0.7/32 1007']);
    expect(agent.listings).toBe(2);
  });

  it.each([
    ['the stream ended', (agent: ScriptedAgent) => [...agent.streams].map((stream) => stream.end())],
    ['the stream broke off', (agent: ScriptedAgent) => [...agent.streams].map((stream) => stream.destroy())],
    [
      'an event is about entries that it does not name',
      (agent: ScriptedAgent) => agent.event('batch-update', '[len:12]', 1),
    ],
    ['everything was deleted', (agent: ScriptedAgent) => agent.event('delete-all', '<nil>')],
  ])('lists again when %s', async (_what, happen) => {
    const { agent, read } = await started(old);
    await read();
    happen(agent);
    agent.entries = { '10.0.0.5/32': 1005 };
    await vi.waitFor(async () => expect(await read()).toEqual(['10.0.0.5/32 1005']), { timeout: 20_000 });
  });

  it('lists every time where the agent tells no events, or only addresses', async () => {
    for (const lack of ['hasEvents', 'hasCache'] as const) {
      const { agent, read } = await started((one) => {
        one[lack] = false;
      });
      await read();
      const before = agent.listings;
      await read();
      expect(agent.listings).toBe(before * 2);
    }
  });

  it('speaks for the kinds that it has shown', async () => {
    const { source, read } = await started();
    expect(source.speaksFor('global', 'ipv4', 0)).toBe(false);
    await read();
    expect(source.speaksFor('global', 'ipv4', 0)).toBe(true);
    expect(source.speaksFor('local', 'ipv4', 0)).toBe(false);
    expect(source.speaksFor('global', 'ipv6', 0)).toBe(false);
    expect(source.speaksFor('global', 'ipv4', 2)).toBe(false);
  });

  it.each([
    ['the agent', { cilium: { state: 'Failure', msg: 'Kubernetes service is not ready' } }, 'not ready'],
    ['the kvstore', { cilium: { state: 'Ok' }, kvstore: { state: 'Failure' } }, 'kvstore'],
    [
      'a remote cluster',
      { cilium: { state: 'Ok' }, 'cluster-mesh': { clusters: [{ name: 'east', ready: false }] } },
      'east',
    ],
    ['nothing', {}, 'state'],
  ])('is not synced while %s is not ready, and asks again until the time is over', async (_what, health, words) => {
    const { agent, read } = await started((one) => {
      one.health = JSON.stringify(health);
    });
    const error = await read(false, 600).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(UnreachableError);
    expect(error).toMatchObject({ code: 'SOURCE_NOT_SYNCED', exitCode: 8, message: expect.stringContaining(words) });
    expect(agent.listings).toBe(0);
    setTimeout(() => {
      agent.health = HEALTHY;
    }, 200);
    expect(await read()).toHaveLength(2);
  });

  it('is not synced without any entry; nobody there is said at once', async () => {
    const { agent, read } = await started((one) => {
      one.entries = {};
    });
    await expect(read(false, 600)).rejects.toMatchObject({ code: 'SOURCE_NOT_SYNCED' });
    await agent[Symbol.asyncDispose]();
    await expect(read()).rejects.toMatchObject({ code: 'AGENT_UNREACHABLE', exitCode: 8 });
  });
});

describe('AgentSource.follow()', () => {
  it('tells the listing, then changes; after a break the difference to the next listing', async () => {
    const { agent, source } = await started(old);
    const told: string[] = [];
    const stop = new AbortController();
    const words = (event: SourceEvent): string => {
      if (event.op === 'upsert') return `+ ${event.record.key} ${event.record.identity} ${event.record.hostIP}`;
      return event.op === 'delete' ? `- ${event.key}` : event.op;
    };
    const following = source.follow(
      {
        event: (event) => told.push(words(event)),
        synced: () => told.push('synced'),
        lost: () => told.push('lost'),
      },
      { signal: stop.signal },
    );
    const until = async (count: number) => {
      for (let i = 0; i < 200 && told.length < count; i++) await sleep(20);
      return told.splice(0);
    };
    expect(await until(3)).toEqual(['+ 10.0.0.1/32 1001 192.0.2.9', '+ 10.0.0.2/32 1002 192.0.2.9', 'synced']);
    agent.event('update', '10.0.0.3/32', 1003);
    agent.event('update', '10.0.0.3/32', 1003);
    agent.event('delete', '10.0.0.1/32');
    expect(await until(2)).toEqual(['+ 10.0.0.3/32 1003 192.0.2.9', '- 10.0.0.1/32']);
    agent.entries = { '10.0.0.2/32': 2002, '10.0.0.3/32': 1003 };
    for (const stream of agent.streams) stream.end();
    expect(await until(3)).toEqual(['lost', '+ 10.0.0.2/32 2002 192.0.2.9', 'synced']);
    stop.abort();
    await following;
    expect(told).toEqual([]);
  });
});
