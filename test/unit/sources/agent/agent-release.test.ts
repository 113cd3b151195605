import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentClient } from '../../../../src/lib/sources/agent/agent-client.ts';
import { whyClaimsDoNotCount } from '../../../../src/lib/sources/agent/agent-release.ts';
import { fakeAgent } from '../../../support/fake-agent.ts';

let proc: string;
beforeEach(() => {
  proc = mkdtempSync(path.join(tmpdir(), 'ipc-proc-'));
});
afterEach(() => rmSync(proc, { recursive: true }));

/** A /proc in which this process, which is the agent, is so old. */
function aged(seconds: number): void {
  writeFileSync(path.join(proc, 'uptime'), '5000.25 9000.00\n');
  mkdirSync(path.join(proc, String(process.pid)));
  const fields = ['S', ...Array.from({ length: 18 }, () => '0'), String((5000.25 - seconds) * 100), '0'];
  writeFileSync(path.join(proc, String(process.pid), 'stat'), `${process.pid} (cilium) agent) ${fields.join(' ')}\n`);
}

async function why(config: object | undefined) {
  await using agent = await fakeAgent(config === undefined ? {} : { '/config': JSON.stringify(config) });
  return await whyClaimsDoNotCount(new AgentClient(agent.socket), { timeoutMs: 1000 }, proc);
}

const grace = (seconds: number) => ({
  status: { daemonConfigurationMap: { IdentityRestoreGracePeriod: seconds * 1e9 } },
});

describe('whyClaimsDoNotCount()', () => {
  it.each([
    [329, grace(30), 'the agent runs for 329 s, and may hold its own placeholders until 330 s'],
    [330, grace(30), undefined],
    [899, {}, 'the agent runs for 899 s, and may hold its own placeholders until 900 s'],
    [900, undefined, undefined],
    [0, grace(0), 'the agent runs for 0 s, and may hold its own placeholders until 300 s'],
  ])('an agent of %s s with configuration %j', async (age, config, words) => {
    aged(age);
    expect(await why(config)).toBe(words);
  });

  it('an agent whose age cannot be seen is never believed', async () => {
    expect(await why(grace(0))).toBe('since when the agent runs cannot be seen from here');
  });

  it('this process is seen in the real /proc', async () => {
    await using agent = await fakeAgent({ '/config': '{}' });
    expect(await whyClaimsDoNotCount(new AgentClient(agent.socket), { timeoutMs: 1000 })).toMatch(
      /^the agent runs for \d+ s/,
    );
  });
});
