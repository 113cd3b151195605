import { describe, expect, it } from 'vitest';
import { AgentLoop } from '../../../src/lib/listen/agent-loop.ts';
import { PHASES } from '../../../src/lib/listen/loop-event.ts';
import { LoopMetrics } from '../../../src/lib/listen/loop-metrics.ts';
import { type LoopStatus, loopStatus } from '../../../src/lib/listen/loop-status.ts';
import { LoopSite } from '../../support/loop-site.ts';
import { expectFits } from '../../support/schemas.ts';

describe('loopStatus()', () => {
  it('is whole before there is a map', async () => {
    await using site = new LoopSite({ clusterName: 'east' });
    const loop = new AgentLoop(site.setup);
    site.clock.pass(1500);
    loop.noteBadLine('fake');
    const status = loopStatus(loop);
    expectFits('listen-status', { kind: 'listen-status', schemaVersion: 1, ...status });
    expect(status).toMatchObject({
      time: '2026-01-02T03:04:06.500Z',
      started: '2026-01-02T03:04:05.000Z',
      pid: 42,
      phase: 'lock',
      ready: false,
      clusterName: 'east',
      badLines: 1,
      sources: [],
    });
    expect(status.map).toBeUndefined();
  });
});

describe('LoopMetrics', () => {
  const status: LoopStatus = {
    time: '2026-01-02T03:04:05.000Z',
    pid: 1,
    started: '2026-01-02T03:04:00.000Z',
    phase: 'run',
    ready: true,
    map: { id: 1, pin: '/p', layout: 'v2', maxEntries: 40, replaced: 2 },
    entries: 10,
    identities: 3,
    queued: 4,
    pending: 5,
    badLines: 0,
    sources: [
      {
        name: 'a "b"\n',
        reference: 'ndjson:-',
        rank: 'api',
        condition: 'ended',
        synced: '2026-01-02T03:04:01.000Z',
        events: 7,
        rejected: { malformed: 2, family: 1 },
        staleDeletes: 1,
      },
    ],
    restore: { restored: 9, placeholders: 6, graceMs: 1000 },
    checkpoint: { time: '2026-01-02T03:04:02.500Z', failures: 8 },
    foreign: { changes: 11, reasserted: 12, givenUp: 13 },
    gc: { runs: 14, failures: 15, deleted: 16 },
  };

  async function lines(metrics: LoopMetrics): Promise<string[]> {
    return (await metrics.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  }

  it('reads what the loop counts when it is asked, and escapes what comes from outside', async () => {
    let present: LoopStatus | undefined;
    const metrics = new LoopMetrics(() => present);
    expect(
      (await lines(metrics)).filter(
        (line) => !/^ipc_listen_(flapping|released_prefixes)_total 0$|_bucket|_sum 0|_count 0/.test(line),
      ),
    ).toEqual([]);
    present = status;
    const source = 'source="a \\"b\\"\\n"';
    expect(await lines(metrics)).toEqual(
      expect.arrayContaining([
        'ipc_listen_entries 10',
        'ipc_listen_pressure 0.25',
        'ipc_listen_queue 4',
        'ipc_listen_pending 5',
        'ipc_listen_placeholders 6',
        'ipc_listen_checkpoint_age_seconds 2.5',
        'ipc_listen_checkpoint_failures_total 8',
        `ipc_listen_source_connected{${source}} 1`,
        `ipc_listen_events_total{${source}} 7`,
        `ipc_listen_rejected_events_total{${source},reason="malformed"} 2`,
        'ipc_listen_map_replaced_total 2',
        'ipc_listen_gc_deleted_total 16',
      ]),
    );
    const { checkpoint: _, restore: __, ...less } = status;
    present = { ...less, checkpoint: { failures: 0 } };
    const few = await lines(metrics);
    expect(few.filter((line) => /placeholders|checkpoint_age/.test(line))).toEqual([]);
    expect(few).toContain('ipc_listen_checkpoint_failures_total 0');
    present = { ...status, queued: 0, gc: { ...status.gc, deleted: 17 } };
    expect(await lines(metrics)).toEqual(
      expect.arrayContaining(['ipc_listen_queue 0', 'ipc_listen_gc_deleted_total 17']),
    );
  });

  it('has one phase at a time', async () => {
    let phase: LoopStatus['phase'] = 'lock';
    const metrics = new LoopMetrics(() => ({ ...status, phase }));
    for (phase of PHASES) {
      const phases = (await lines(metrics)).filter((line) => line.startsWith('ipc_listen_phase'));
      expect(phases.filter((line) => line.endsWith(' 1'))).toEqual([`ipc_listen_phase{phase="${phase}"} 1`]);
      expect(phases).toHaveLength(PHASES.length);
    }
  });
});
