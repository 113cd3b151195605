import { describe, expect, it } from 'vitest';
import type { MapUsers, MapUsersReport } from '../../../src/lib/bpf/map-users.ts';
import { pickPin } from '../../../src/lib/bpf/pick-pin.ts';
import { EXIT } from '../../../src/lib/errors.ts';

const V2 = { path: '/b/tc/globals/cilium_ipcache_v2', mapId: 2 };
const V1 = { path: '/b/tc/globals/cilium_ipcache', mapId: 1 };

const writer = { pid: 812, comm: 'cilium-agent', writes: true };
const reader = { pid: 813, comm: 'bpftool', writes: false };
const program = { id: 5, name: 'cil_from_contai', type: 'sched_cls', mapIds: [] };

function report(v1: Partial<MapUsers>, v2: Partial<MapUsers>, more: Partial<MapUsersReport> = {}): MapUsersReport {
  const users = (some: Partial<MapUsers>): MapUsers => ({ programs: [], processes: [], ...some });
  return {
    byMap: new Map([
      [1, users(v1)],
      [2, users(v2)],
    ]),
    ...more,
  };
}

const pick = (users: MapUsersReport) => pickPin([V2, V1], users);

describe('pickPin()', () => {
  it('op 26 chooses the pin that only programs tell, and says why', () => {
    const choice = pick(report({ programs: [program, program] }, {}));
    expect(choice).toMatchObject({ ...V1, reason: 'no process has it open, 2 programs use it' });
    expect(choice.others).toEqual([{ ...V2, evidence: 'no process has it open, no program uses it' }]);
  });

  it('op 26 refuses with 4 and lists both where neither is used', () => {
    expect(() => pick(report({}, {}))).toThrow(
      expect.objectContaining({
        exitCode: EXIT.ambiguous,
        code: 'AMBIGUOUS_PIN',
        message: expect.stringMatching(/cilium_ipcache_v2 \(id 2\): .*cilium_ipcache \(id 1\): /),
      }),
    );
  });

  it('asks for a writing process first: programs still hold the old map while an agent restarts', () => {
    const choice = pick(report({ programs: [program] }, { processes: [writer] }));
    expect(choice.path).toBe(V2.path);
    expect(choice.reason).toBe('process 812 (cilium-agent) has it open read-write, no program uses it');
  });

  it('does not take a reader for a user', () => {
    expect(pick(report({ programs: [program] }, { processes: [reader] })).path).toBe(V1.path);
    expect(() => pick(report({}, { processes: [reader] }))).toThrow('Cannot choose');
  });

  it('lets programs decide between two that are both open to write', () => {
    expect(pick(report({ processes: [writer], programs: [program] }, { processes: [writer] })).path).toBe(V1.path);
    const both = { processes: [writer], programs: [program] };
    expect(() => pick(report(both, both))).toThrow('Cannot choose');
  });

  it('says what could not be seen instead of calling it nobody', () => {
    const blind = { programsUnseen: 'programs cannot be listed', processesUnseen: '3 processes may not be looked at' };
    expect(() => pick(report({}, {}, blind))).toThrow(/no process seen \(3 processes .*programs cannot be listed/);
  });
});
