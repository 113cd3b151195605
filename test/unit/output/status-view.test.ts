import { describe, expect, test } from 'vitest';
import { createPaint } from '../../../src/lib/output/paint.ts';
import { type StatusModel, statusView } from '../../../src/lib/output/status-view.ts';

const REMEMBERED: StatusModel = {
  stateDir: '/var/lib/ipc',
  ready: true,
  reasons: [],
  pin: '/sys/fs/bpf/tc/globals/cilium_ipcache_v2',
  time: '2026-01-02T03:04:00.000Z',
  mapId: 7,
  identities: 3,
  ingress: [],
  placeholders: 2,
  pending: 5,
  sources: [{ name: 'pods', reference: 'unix:/run/pods', rank: 'kvstore', connected: false }],
  restored: {
    time: '2026-01-02T03:03:59.000Z',
    mapId: 6,
    summary: { restored: 2 },
    graceMs: 30_000,
    due: false,
  },
};
const LOOP = {
  pid: 41,
  phase: 'run',
  ready: false,
  pending: 1,
  stall: 'map full 4/4',
  sources: [
    { name: 'pods', condition: 'synced', synced: '2026-01-02T03:04:05.000Z' },
    { name: 'nodes', condition: 'lost', reason: 'gone\u001b[2J' },
  ],
  restore: { placeholders: 2, releaseAt: '2026-01-02T03:04:35.000Z' },
};
const lines = (model: StatusModel): string[] => [...statusView.text(model, createPaint(false))];
const about = (model: StatusModel, word: string): string[] =>
  lines(model)
    .filter((line) => line.startsWith(`${word} `))
    .map((line) => line.slice(11));

describe('ipc status in words', () => {
  test('of no loop it is what the state says', () => {
    expect(about(REMEMBERED, 'release')).toEqual(['when all sources are synced, and the grace period after']);
    expect(about(REMEMBERED, 'source')).toEqual(['pods: not connected, never synced']);
    expect(about(REMEMBERED, 'pending')).toEqual(['5 writes']);
  });

  test('the loop that keeps the state speaks for itself, and says why its writes wait', () => {
    const model = { ...REMEMBERED, lockedBy: 41, listen: LOOP };
    expect(about(model, 'release')).toEqual([]);
    expect(about(model, 'listen')).toEqual([
      'pid 41, phase run, not ready, 2 placeholders until 2026-01-02T03:04:35.000Z',
    ]);
    expect(about(model, 'source')).toEqual([
      'pods: synced, synced 2026-01-02T03:04:05.000Z',
      'nodes: lost, gone\\x1b[2J, never synced',
    ]);
    expect(about(model, 'pending')).toEqual(['1 writes: map full 4/4']);
  });

  test('a loop that keeps another state hides nothing of this one', () => {
    const model = { ...REMEMBERED, lockedBy: 40, listen: LOOP };
    expect(about(model, 'release')).toHaveLength(1);
    expect(about(model, 'source')).toHaveLength(3);
    expect(about(model, 'pending')).toEqual(['5 writes', '1 writes: map full 4/4']);
  });

  test('a loop without trouble has no line for it', () => {
    const { stall, ...calm } = LOOP;
    const model = { ...REMEMBERED, lockedBy: 41, listen: { ...calm, pending: 0 } };
    expect(about(model, 'pending')).toEqual([]);
    expect(about({ ...model, listen: { ...calm, pending: 2 } }, 'pending')).toEqual(['2 writes']);
  });
});
