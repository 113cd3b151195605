/** Which processes have maps open: every /proc/PID/fd that is a map, and its fdinfo. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { parseMapFdinfo } from './map-fdinfo.ts';

export interface MapProcess {
  /** In the pid namespace of `procRoot`. */
  readonly pid: number;
  /** Up to 15 characters that the process chose itself. */
  readonly comm: string;
  /** May write: at least one of its descriptors is not read-only. */
  readonly writes: boolean;
}

export interface MapProcesses {
  readonly byMap: ReadonlyMap<number, readonly MapProcess[]>;
  /** Why processes may be missing from the answer; absent when every process of the machine was seen. */
  readonly unseen?: string;
}

/** The inode of the first pid namespace (PROC_PID_INIT_INO of linux/proc_ns.h). */
const INIT_PID_NAMESPACE = 'pid:[4026531836]';

/** Looks at every process but this one. @param mapIds only these maps. */
export function findMapProcesses(mapIds: ReadonlySet<number>, procRoot = '/proc'): MapProcesses {
  const byMap = new Map<number, MapProcess[]>();
  const self = link(`${procRoot}/self`);
  let hidden = 0;
  let pids: string[];
  try {
    pids = readdirSync(procRoot).filter((name) => /^[0-9]+$/.test(name) && name !== self);
  } catch {
    return { byMap, unseen: `${procRoot} cannot be read` };
  }
  for (const pid of pids) {
    const access = mapsOf(`${procRoot}/${pid}`, mapIds);
    if (access === undefined) hidden++;
    for (const [mapId, writes] of access ?? []) {
      const found = { pid: Number(pid), comm: readComm(`${procRoot}/${pid}/comm`), writes };
      byMap.set(mapId, [...(byMap.get(mapId) ?? []), found]);
    }
  }
  const unseen = whyUnseen(hidden, procRoot);
  return unseen === undefined ? { byMap } : { byMap, unseen };
}

/** @returns map id → may write; undefined where the process may not be looked at; empty where it is gone. */
function mapsOf(directory: string, mapIds: ReadonlySet<number>): Map<number, boolean> | undefined {
  const access = new Map<number, boolean>();
  let fds: string[];
  try {
    fds = readdirSync(`${directory}/fd`);
  } catch (error) {
    return isDenied(error) ? undefined : access;
  }
  for (const fd of fds) {
    // A link costs far less to read than an fdinfo, and few descriptors are maps.
    if (!(link(`${directory}/fd/${fd}`) ?? '').includes('bpf-map')) continue;
    try {
      const info = parseMapFdinfo(readFileSync(`${directory}/fdinfo/${fd}`, 'latin1'));
      if (info === undefined || !mapIds.has(info.mapId)) continue;
      access.set(info.mapId, (access.get(info.mapId) ?? false) || info.access !== 'read-only');
    } catch (error) {
      if (isDenied(error)) return undefined;
    }
  }
  return access;
}

function whyUnseen(hidden: number, procRoot: string): string | undefined {
  const reasons: string[] = [];
  if (hidden > 0)
    reasons.push(`${hidden} ${hidden === 1 ? 'process' : 'processes'} may not be looked at (CAP_SYS_PTRACE)`);
  const namespace = link(`${procRoot}/self/ns/pid`);
  if (namespace !== INIT_PID_NAMESPACE) reasons.push('processes of other pid namespaces are out of sight');
  return reasons.length === 0 ? undefined : reasons.join('; ');
}

function link(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function readComm(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\n$/, '');
  } catch {
    return '';
  }
}

function isDenied(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM');
}
