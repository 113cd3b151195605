/** Every map of the ipcache's shape on this machine, pinned or not, with what it holds and who holds it. */
import { hasIpcacheShape } from '../bpf/ipcache-shape.ts';
import { readMapFdinfo } from '../bpf/map-fdinfo.ts';
import type { MapInfo } from '../bpf/map-info.ts';
import { listMaps } from '../bpf/map-list.ts';
import type { MapProcess } from '../bpf/map-processes.ts';
import type { MapRef } from '../bpf/map-ref.ts';
import { findMapUsers } from '../bpf/map-users.ts';
import type { Program } from '../bpf/prog-list.ts';
import { walkMap } from '../bpf/walk.ts';
import { NotPermittedError, ToolError } from '../errors.ts';
import { openIpcache } from '../ipcache/ipcache-map.ts';
import type { Kernel } from '../native/kernel.ts';
import { type PinScan, scanPins } from './scan-pins.ts';

export interface DoctorMap extends Pick<MapInfo, 'id' | 'name' | 'maxEntries' | 'flags'> {
  readonly pins: readonly string[];
  /** Absent when it cannot be told. */
  readonly layout?: string;
  /** Undefined: could not be counted. */
  readonly entries?: number;
  readonly frozen: boolean;
  /** Undefined: programs cannot be listed. */
  readonly programs?: readonly Program[];
  readonly processes: readonly MapProcess[];
  /** Why layout or entries are missing or doubtful. */
  readonly problem?: string;
}

export interface NodeMaps {
  readonly maps: readonly DoctorMap[];
  readonly leftovers: readonly string[];
  /** What could not be seen, and why. */
  readonly unseen: readonly string[];
}

export interface CollectMapsOptions {
  readonly kernel: Kernel;
  readonly roots: readonly string[];
  readonly signal: AbortSignal;
}

/** Reads every map once to count it. */
export async function collectMaps({ kernel, roots, signal }: CollectMapsOptions): Promise<NodeMaps> {
  const scan = scanPins(roots, kernel);
  const unseen = scan.hidden.map((path) => `${path} may not be looked at`);
  const ids = new Set([...scan.pins.keys(), ...listedIds(kernel, unseen)]);
  const users = findMapUsers(ids, { kernel });
  for (const reason of [users.programsUnseen, users.processesUnseen]) if (reason !== undefined) unseen.push(reason);
  const maps: DoctorMap[] = [];
  for (const id of [...ids].sort((a, b) => a - b)) {
    const map = await examine(id, scan, kernel, signal);
    if (map === undefined) continue;
    const { programs, processes } = users.byMap.get(id) ?? { programs: [], processes: [] };
    maps.push({ ...map, processes, ...(users.programsUnseen === undefined && { programs }) });
  }
  return { maps, leftovers: scan.leftovers, unseen };
}

function listedIds(kernel: Kernel, unseen: string[]): number[] {
  try {
    return [...listMaps(kernel)].filter(hasIpcacheShape).map(({ id }) => id);
  } catch (error) {
    if (!(error instanceof NotPermittedError)) throw error;
    unseen.push('maps without a pin cannot be listed without CAP_SYS_ADMIN');
    return [];
  }
}

/** @returns undefined when the map is gone or may not be opened in any way */
async function examine(id: number, scan: PinScan, kernel: Kernel, signal: AbortSignal) {
  const pins = scan.pins.get(id) ?? [];
  const refs: MapRef[] = [{ kind: 'id', id }, ...pins.map((path): MapRef => ({ kind: 'pin', path }))];
  let problem: string | undefined;
  for (const ref of refs) {
    try {
      using ipcache = await openIpcache({ kernel, ref, signal });
      const { map, layout, layoutChoice } = ipcache;
      if (map.info.id !== id) continue;
      const counted = await count(walkMap(map, { signal }));
      return {
        ...describe(map.info, pins),
        frozen: readMapFdinfo(map.fd)?.frozen ?? false,
        layout: layoutChoice.by === 'assumed' ? `${layout.name} (assumed)` : layout.name,
        ...counted,
      };
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      problem ??= error.message;
    }
  }
  const info = [...safeMaps(kernel)].find((one) => one.id === id);
  return info && { ...describe(info, pins), frozen: false, ...(problem !== undefined && { problem }) };
}

function* safeMaps(kernel: Kernel): Generator<MapInfo> {
  try {
    yield* listMaps(kernel);
  } catch (error) {
    if (!(error instanceof NotPermittedError)) throw error;
  }
}

function describe({ id, name, maxEntries, flags }: MapInfo, pins: readonly string[]) {
  return { id, name, maxEntries, flags, pins };
}

async function count(walk: ReturnType<typeof walkMap>): Promise<{ entries?: number; problem?: string }> {
  for (let step = await walk.next(); ; step = await walk.next()) {
    if (!step.done) continue;
    const { complete, entries, reason } = step.value;
    return complete ? { entries } : { problem: `its entries could not be counted: ${reason}` };
  }
}
