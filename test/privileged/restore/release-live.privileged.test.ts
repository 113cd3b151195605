import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import Release from '../../../src/commands/release.ts';
import Restore from '../../../src/commands/restore.ts';
import { bpfDescriptors } from '../../support/real-kernel.ts';
import { Site } from '../../support/restore-site.ts';
import { ScriptedAgent } from '../../support/scripted-agent.ts';

const AT = Date.UTC(2026, 0, 2, 3);
const LATER = { now: AT + 31_000 };
const TWO = [
  { prefix: '198.51.0.0/24', identity: 16_777_220 },
  { prefix: '198.51.1.0/24', identity: 16_777_221 },
];

let site: Site;
let before: number;
beforeEach(() => {
  before = bpfDescriptors();
  site = new Site('release-live');
});
afterEach(() => {
  site[Symbol.dispose]();
  expect(bpfDescriptors()).toBe(before);
});

describe('ipc release --claims agent', () => {
  it('an agent that may hold its own placeholders neither keeps nor gives up anything', async () => {
    await using agent = new ScriptedAgent();
    agent.entries = { '198.51.0.0/24': 16_777_220 };
    await agent.start();
    site.map(TWO);
    await site.report(Restore, ['--map', site.pin, '--allocator-state', site.allocator('null')], 0, { now: AT });
    const report = await site.report(Release, ['--claims', `agent:${agent.socket}`], 0, LATER);
    expect(report).toMatchObject({ changed: false, summary: { claimed: 0, unknown: 2, deleted: 0 } });
    expect(report.warnings?.join()).toMatch(/claims of agent:.* do not count yet: the agent runs for \d+ s/);
    expect(Object.keys(await site.numbers())).toHaveLength(2);
    expect(agent.listings).toBe(0);
  });

  it('nobody there is 8, and nothing is released', async () => {
    site.map(TWO);
    await site.report(Restore, ['--map', site.pin, '--allocator-state', site.allocator('null')], 0, { now: AT });
    expect((await site.run(Release, ['--claims', 'agent:/nonexistent/agent.sock'], LATER)).exitCode).toBe(8);
    expect(site.state.placeholders).toHaveLength(2);
  });
});
