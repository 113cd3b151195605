import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findMapProcesses } from '../../../src/lib/bpf/map-processes.ts';

const READ_WRITE = '02000002';
const READ_ONLY = '02000000';

describe('findMapProcesses()', () => {
  let proc: string;

  beforeEach(() => {
    proc = mkdtempSync(join(tmpdir(), 'ipc-proc-'));
    symlinkSync('900', join(proc, 'self'));
    addProcess(900, 'ipc', [[READ_WRITE, 7]]);
    namespace('pid:[4026531836]');
  });

  afterEach(() => rmSync(proc, { recursive: true }));

  function namespace(link: string): void {
    mkdirSync(join(proc, '900/ns'), { recursive: true });
    rmSync(join(proc, '900/ns/pid'), { force: true });
    symlinkSync(link, join(proc, '900/ns/pid'));
  }

  /** @param maps open flags and map id of each descriptor that is a map */
  function addProcess(pid: number, comm: string, maps: readonly (readonly [flags: string, id: number])[]): void {
    mkdirSync(join(proc, `${pid}/fd`), { recursive: true });
    mkdirSync(join(proc, `${pid}/fdinfo`), { recursive: true });
    writeFileSync(join(proc, `${pid}/comm`), `${comm}\n`);
    symlinkSync('/dev/null', join(proc, `${pid}/fd/0`));
    maps.forEach(([flags, id], index) => {
      symlinkSync('anon_inode:bpf-map', join(proc, `${pid}/fd/${index + 3}`));
      writeFileSync(join(proc, `${pid}/fdinfo/${index + 3}`), `pos:\t0\nflags:\t${flags}\nmap_id:\t${id}\n`);
    });
  }

  it('tells who has a map open and whether to write, without this process', () => {
    addProcess(812, 'cilium-agent', [
      [READ_ONLY, 7],
      [READ_WRITE, 7],
      [READ_WRITE, 8],
    ]);
    addProcess(813, 'bpftool', [[READ_ONLY, 7]]);
    const { byMap, unseen } = findMapProcesses(new Set([7, 9]), proc);
    expect([...byMap]).toEqual([
      [
        7,
        [
          { pid: 812, comm: 'cilium-agent', writes: true },
          { pid: 813, comm: 'bpftool', writes: false },
        ],
      ],
    ]);
    expect(unseen).toBeUndefined();
  });

  it('takes a process that went away for one that has nothing', () => {
    mkdirSync(join(proc, '814'));
    expect(findMapProcesses(new Set([7]), proc)).toEqual({ byMap: new Map() });
  });

  it('says that another pid namespace hides processes', () => {
    namespace('pid:[4026532000]');
    expect(findMapProcesses(new Set([7]), proc).unseen).toContain('pid namespace');
  });

  it('says that it saw nothing where there is no procfs', () => {
    expect(findMapProcesses(new Set([7]), join(proc, 'none')).unseen).toContain('cannot be read');
  });
});
