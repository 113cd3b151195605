import { describe, expect, it } from 'vitest';
import { checkMaps } from '../../../src/lib/doctor/check-maps.ts';
import type { DoctorMap } from '../../../src/lib/doctor/collect-maps.ts';

const programs = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => ({ id: from + i, name: 'cil_x', type: 'sched_cls', mapIds: [] }));
const map = (id: number, change: Partial<DoctorMap> = {}): DoctorMap => ({
  id,
  name: 'cilium_ipcache_',
  pins: [],
  layout: 'v2',
  entries: 5,
  maxEntries: 512000,
  flags: 1,
  frozen: false,
  programs: [],
  processes: [],
  ...change,
});
const check = (maps: DoctorMap[], rest = {}) =>
  checkMaps({ maps, leftovers: [], unseen: [], ...rest }).map((finding) => `${finding.severity} ${finding.check}`);
const v1 = '/sys/fs/bpf/tc/globals/cilium_ipcache';
const v2 = `${v1}_v2`;

describe('checkMaps()', () => {
  it('is content with one pinned map, used or not', () => {
    expect(check([map(1, { pins: [v2] })])).toEqual(['info maps']);
    expect(check([map(1, { pins: [v2], programs: programs(1, 9) })])).toEqual(['info maps']);
  });

  it('op 27: a pinned map beside an unpinned one that programs use is an error with both ids and counts', () => {
    const maps = [map(5, { pins: [v2], entries: 0 }), map(9, { entries: 3, programs: programs(1, 12) })];
    expect(check(maps)).toEqual(['info maps', 'high map-unused']);
    expect(checkMaps({ maps, leftovers: [], unseen: [] })[1]?.message).toBe(
      `the datapath does not read ${v2}: no program uses map id 5 (0 entries); in use is id 9 (3 entries), by 12 programs`,
    );
  });

  it('takes the pin of another version for a leftover, unless it is the one that is written', () => {
    const used = map(5, { pins: [v2], programs: programs(1, 12) });
    expect(check([map(4, { pins: [v1] }), used])).toEqual(['info maps', 'low pin-stale']);
    const writer = { pid: 7, comm: 'cilium-agent', writes: true };
    expect(check([map(4, { pins: [v1], processes: [writer] }), used])).toEqual(['info maps', 'high map-unused']);
  });

  it('counts how many programs have moved to the newest map', () => {
    const maps = [map(5, { programs: programs(1, 48) }), map(9, { pins: [v2], programs: programs(49, 60) })];
    const finding = checkMaps({ maps, leftovers: [], unseen: [] })[1];
    expect(finding).toMatchObject({ check: 'programs-split', severity: 'medium' });
    expect(finding?.message).toContain('12 of 60 programs moved to map id 9');
  });

  it('concludes nothing about programs that it cannot see', () => {
    const { programs: _, ...unseen } = map(5, { pins: [v2] });
    expect(check([unseen, map(9, { programs: programs(1, 2) })], { unseen: ['programs cannot be listed'] })).toEqual([
      'info maps',
    ]);
    expect(check([], { unseen: ['maps cannot be listed'] })).toEqual(['medium maps']);
    expect(check([])).toEqual(['high maps']);
  });

  it('op 52: says what is left over of an unfinished replacement', () => {
    const left = [`${v2}_pending`, `${v2}:pending`];
    const findings = checkMaps({ maps: [map(1, { pins: [v2] })], leftovers: left, unseen: [] });
    expect(
      findings.slice(1).map(({ check: name, severity, message }) => [name, severity, message.split(' ')[0]]),
    ).toEqual([
      ['leftover', 'medium', left[0]],
      ['leftover', 'medium', left[1]],
    ]);
  });

  it('says frozen, unread, and empty while in use', () => {
    expect(check([map(1, { frozen: true })])).toEqual(['info maps', 'high map-frozen']);
    expect(check([map(1, { entries: 0, programs: programs(1, 2) })])).toEqual(['info maps', 'medium map-empty']);
    expect(check([map(1, { problem: 'Cannot tell the layout' })])).toEqual(['info maps', 'medium map-unread']);
  });
});
