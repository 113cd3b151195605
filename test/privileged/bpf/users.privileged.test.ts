import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { datapathMaps } from '../../../src/lib/bpf/datapath-maps.ts';
import { findIpcachePin } from '../../../src/lib/bpf/find-pin.ts';
import type { BpfMap } from '../../../src/lib/bpf/map.ts';
import { listMaps } from '../../../src/lib/bpf/map-list.ts';
import { findMapUsers } from '../../../src/lib/bpf/map-users.ts';
import { openIpcacheMap } from '../../../src/lib/bpf/open-ipcache-map.ts';
import { openPin } from '../../../src/lib/bpf/open-pin.ts';
import { linkPin, pinMap } from '../../../src/lib/bpf/pin.ts';
import { EXIT } from '../../../src/lib/errors.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { loadProgram, type TestProgram } from '../../support/load-program.ts';
import { bpfDescriptors, type PinDirectory, pinDirectory, realTrie } from '../../support/real-kernel.ts';

const kernel = new LinuxKernel();
let directory: PinDirectory;
let before: number;
let v1: BpfMap;
let v2: BpfMap;
const children: ChildProcess[] = [];
const programs: TestProgram[] = [];

beforeEach(() => {
  before = bpfDescriptors();
  directory = pinDirectory('users');
  mkdirSync(`${directory.path}/tc/globals`, { recursive: true });
  v1 = realTrie(kernel, { valueBytes: 12, name: 'cilium_ipcache' });
  v2 = realTrie(kernel, { valueBytes: 24, name: 'cilium_ipcache_v2' });
});
afterEach(async () => {
  for (const program of programs.splice(0)) program[Symbol.dispose]();
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  v1[Symbol.dispose]();
  v2[Symbol.dispose]();
  directory[Symbol.dispose]();
  expect(bpfDescriptors()).toBe(before);
});

const pinV1 = () => `${directory.path}/tc/globals/cilium_ipcache`;
const pinV2 = () => `${directory.path}/tc/globals/cilium_ipcache_v2`;

/** A process that holds the descriptors and does nothing. */
async function hold(...fds: readonly number[]): Promise<number> {
  const child = spawn('sleep', ['60'], { stdio: ['ignore', 'ignore', 'ignore', ...fds] });
  children.push(child);
  await once(child, 'spawn');
  return child.pid ?? 0;
}

function load(map: BpfMap, name: string): void {
  programs.push(loadProgram(kernel, { fd: map.fd, keyBytes: 24 }, name));
}

describe('findMapUsers()', () => {
  it('tells programs by name and processes by mode, without this process', async () => {
    pinMap(v2, pinV2());
    load(v2, 'cil_test_one');
    load(v2, 'cil_test_two');
    using reader = openPin(pinV2(), { kernel });
    const writing = await hold(v2.fd);
    const reading = await hold(reader.fd);
    const { byMap, programsUnseen } = findMapUsers([v1.info.id, v2.info.id], { kernel });
    expect(programsUnseen).toBeUndefined();
    expect(byMap.get(v1.info.id)).toEqual({ programs: [], processes: [] });
    const users = byMap.get(v2.info.id);
    expect(users?.programs.map(({ name, type, mapIds }) => [name, type, mapIds])).toEqual([
      ['cil_test_one', 'sched_cls', [v2.info.id]],
      ['cil_test_two', 'sched_cls', [v2.info.id]],
    ]);
    const byPid = new Map(users?.processes.map((process) => [process.pid, process]));
    expect(byPid.get(writing)).toEqual({ pid: writing, comm: 'sleep', writes: true });
    expect(byPid.get(reading)).toEqual({ pid: reading, comm: 'sleep', writes: false });
    expect(byPid.has(process.pid)).toBe(false);
  });
});

describe('listMaps() and datapathMaps()', () => {
  it('list every map, and the ipcaches that programs hold with the most used first', () => {
    const ids = [...listMaps(kernel)].map(({ id }) => id);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    expect(ids).toEqual(expect.arrayContaining([v1.info.id, v2.info.id]));
    using other = realTrie(kernel, { valueBytes: 16 });
    load(v1, 'cil_test_a');
    load(v2, 'cil_test_b');
    load(v2, 'cil_test_c');
    load(other, 'cil_test_d');
    const ours = datapathMaps(kernel).filter(({ info }) => [v1, v2, other].some((map) => map.info.id === info.id));
    expect(ours.map(({ info, programs: holders }) => [info.id, holders.length])).toEqual([
      [v2.info.id, 2],
      [v1.info.id, 1],
    ]);
  });
});

describe('findIpcachePin()', () => {
  const find = () => findIpcachePin({ kernel, roots: [directory.path] });

  it('takes the only pin, also under two roots', () => {
    pinMap(v1, pinV1());
    expect(find()).toEqual({ path: pinV1(), mapId: v1.info.id, reason: 'it is the only ipcache pin', others: [] });
    linkPin(pinV1(), pinV2());
    expect(findIpcachePin({ kernel, roots: [directory.path, directory.path] }).path).toBe(pinV2());
  });

  it('op 26 both pins exist and only v1 is used by programs: v1, with the reason', () => {
    pinMap(v1, pinV1());
    pinMap(v2, pinV2());
    load(v1, 'cil_test');
    const { map, choice } = openIpcacheMap(undefined, { kernel, bpffs: directory.path });
    map[Symbol.dispose]();
    expect([map.path, choice?.path]).toEqual([pinV1(), pinV1()]);
    expect(choice?.reason).toContain('1 program uses it');
    expect(choice?.others).toEqual([
      { path: pinV2(), mapId: v2.info.id, evidence: expect.stringContaining('no program uses it') },
    ]);
  });

  it('op 26 used by neither: 4, and both are listed', () => {
    pinMap(v1, pinV1());
    pinMap(v2, pinV2());
    expect(find).toThrow(
      expect.objectContaining({
        exitCode: EXIT.ambiguous,
        operands: { candidates: [expect.stringContaining(pinV2()), expect.stringContaining(pinV1())] },
      }),
    );
  });

  it('prefers the pin that a process writes over the one that programs still hold', async () => {
    pinMap(v1, pinV1());
    pinMap(v2, pinV2());
    load(v1, 'cil_test');
    const pid = await hold(v2.fd);
    expect(find()).toMatchObject({
      path: pinV2(),
      reason: expect.stringContaining(`process ${pid} (sleep) has it open read-write`),
    });
  });

  it('exits 3 where nothing is pinned and 4 where something else is', () => {
    expect(find).toThrow(expect.objectContaining({ exitCode: EXIT.notFound, code: 'MAP_NOT_FOUND' }));
    using other = realTrie(kernel, { valueBytes: 16 });
    pinMap(other, pinV2());
    expect(find).toThrow(expect.objectContaining({ exitCode: EXIT.ambiguous, code: 'NOT_AN_IPCACHE' }));
  });
});

describe('openIpcacheMap()', () => {
  it('op 27 reads an unpinned map by its id', () => {
    pinMap(v1, pinV1());
    load(v2, 'cil_test');
    const { map } = openIpcacheMap({ kind: 'id', id: v2.info.id }, { kernel });
    expect([map.info.id, map.path]).toEqual([v2.info.id, undefined]);
    map[Symbol.dispose]();
  });

  it('op 28 refuses the pin of a hash map with 4 and names type and sizes', () => {
    using hash = realTrie(kernel, { type: 1, keyBytes: 16, valueBytes: 4, flags: 0 });
    pinMap(hash, `${directory.path}/h`);
    expect(() => openIpcacheMap({ kind: 'pin', path: `${directory.path}/h` }, { kernel })).toThrow(
      expect.objectContaining({
        exitCode: EXIT.ambiguous,
        message: expect.stringContaining('of type hash with 16-byte keys and 4-byte values'),
      }),
    );
  });
});
