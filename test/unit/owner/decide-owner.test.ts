import { describe, expect, it } from 'vitest';
import { decideOwner, type Ownership } from '../../../src/lib/owner/decide-owner.ts';
import { evidenceLines, type OwnerEvidence } from '../../../src/lib/owner/evidence.ts';

const NOTHING: OwnerEvidence = { processes: [], programs: [], sockets: [], statePin: false, unseen: [] };
const SOCKET = '/var/run/cilium/cilium.sock';
const decide = (seen: Partial<OwnerEvidence>, options = {}): Ownership => decideOwner({ ...NOTHING, ...seen }, options);

describe('decideOwner()', () => {
  it('says nobody, or ipc where the state directory names the pin', () => {
    expect(decide({})).toMatchObject({ owner: 'nobody', agentAlive: false, reasons: [] });
    expect(decide({ statePin: true })).toMatchObject({ owner: 'ipc', reasons: ['the state directory names this pin'] });
  });

  it.each<[string, Partial<OwnerEvidence>, string, boolean, number | undefined]>([
    [
      'a process that holds the map read-write',
      { processes: [{ pid: 812, comm: 'cilium-agent', writes: true }] },
      'process 812 (cilium-agent) holds the map read-write',
      true,
      812,
    ],
    [
      'an agent that answers',
      { sockets: [{ path: SOCKET, state: 'answers', pid: 9 }] },
      `an agent answers on ${SOCKET} (pid 9)`,
      true,
      9,
    ],
    [
      'a silent socket',
      { sockets: [{ path: SOCKET, state: 'silent' }] },
      `${SOCKET} exists and is silent`,
      true,
      undefined,
    ],
    [
      'a socket that may not be asked',
      { sockets: [{ path: SOCKET, state: 'denied' }] },
      'may not be asked',
      true,
      undefined,
    ],
    ['a left-over socket', { sockets: [{ path: SOCKET, state: 'refuses' }] }, 'nobody listens on it', false, undefined],
    [
      'programs named cil_*',
      {
        programs: [
          { id: 3, name: 'cil_from_contai' },
          { id: 4, name: 'other' },
        ],
      },
      'the loaded program cil_from_contai holds the map',
      false,
      undefined,
    ],
  ])('says agent for %s, also against our own state and --sole-writer', (_, seen, words, agentAlive, pid) => {
    const decided = decide({ ...seen, statePin: true }, { soleWriter: true });
    expect(decided).toMatchObject({ owner: 'agent', agentAlive });
    expect(decided.reasons[0]).toContain(words);
    expect(decided.pid).toBe(pid);
  });

  it('does not take readers and programs of others for an agent', () => {
    const seen = { processes: [{ pid: 5, comm: 'bpftool', writes: false }], programs: [{ id: 1, name: 'mine' }] };
    expect(decide(seen).owner).toBe('nobody');
    expect(decide({ ...seen, statePin: true }).owner).toBe('ipc');
  });

  it('assumes nothing about what it cannot see, unless told', () => {
    const unseen = ['programs cannot be listed without CAP_SYS_ADMIN'];
    expect(decide({ unseen, statePin: true })).toMatchObject({ owner: 'unknown', reasons: unseen });
    expect(decide({ unseen, statePin: true }, { soleWriter: true }).owner).toBe('ipc');
    expect(decide({ unseen }, { soleWriter: true }).owner).toBe('nobody');
    const writer = { processes: [{ pid: 1, comm: 'x', writes: true }] };
    expect(decide({ ...writer, unseen }).owner).toBe('agent');
  });

  it('knows another ipc that writes', () => {
    expect(decide({ ipc: { pid: 77 } })).toMatchObject({ owner: 'ipc', pid: 77 });
  });
});

describe('evidenceLines()', () => {
  it('says everything that was seen, the strongest first', () => {
    expect(
      evidenceLines({
        processes: [
          { pid: 5, comm: 'bpftool', writes: false },
          { pid: 6, comm: 'agent', writes: true },
        ],
        programs: [1, 2, 3, 4, 5].map((id) => ({ id, name: id === 5 ? '' : `cil_${id}` })),
        sockets: [
          { path: '/a', state: 'refuses' },
          { path: '/b', state: 'answers' },
        ],
        ipc: { pid: 8 },
        statePin: true,
        unseen: ['something'],
      }),
    ).toEqual([
      'process 6 (agent) holds the map read-write',
      'an agent answers on /b',
      '/a exists but nobody listens on it',
      '4 loaded programs hold the map: cil_1, cil_2, cil_3, …',
      'the loaded program id 5 holds the map',
      'process 5 (bpftool) has the map open read-only',
      'another ipc is writing (pid 8)',
      'the state directory names this pin',
      'something',
    ]);
  });
});
