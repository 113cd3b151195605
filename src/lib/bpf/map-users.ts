/** Who uses a map: loaded programs, and processes that have it open. */
import { NotPermittedError } from '../errors.ts';
import type { Kernel } from '../native/kernel.ts';
import { findMapProcesses, type MapProcess } from './map-processes.ts';
import { listPrograms, type Program } from './prog-list.ts';

export interface MapUsers {
  readonly programs: readonly Program[];
  /** Without this process. */
  readonly processes: readonly MapProcess[];
}

export interface MapUsersReport {
  /** An answer for each id that was asked for. */
  readonly byMap: ReadonlyMap<number, MapUsers>;
  /** Why programs could not be listed; their lists are then empty and mean nothing. */
  readonly programsUnseen?: string;
  /** Why processes may be missing from their lists. */
  readonly processesUnseen?: string;
}

export interface MapUsersOptions {
  readonly kernel: Kernel;
  readonly procRoot?: string | undefined;
}

/** Asks for several maps in one pass over programs and processes. What cannot be seen is said, never assumed. */
export function findMapUsers(mapIds: Iterable<number>, { kernel, procRoot }: MapUsersOptions): MapUsersReport {
  const ids = new Set(mapIds);
  const { byMap: processes, unseen: processesUnseen } = findMapProcesses(ids, procRoot);
  const { byMap: programs, unseen: programsUnseen } = findMapPrograms(kernel, (id) => ids.has(id));
  const byMap = new Map<number, MapUsers>();
  for (const id of ids) byMap.set(id, { programs: programs.get(id) ?? [], processes: processes.get(id) ?? [] });
  return {
    byMap,
    ...(programsUnseen === undefined ? {} : { programsUnseen }),
    ...(processesUnseen === undefined ? {} : { processesUnseen }),
  };
}

/** The programs of each map that `wanted` accepts. */
function findMapPrograms(
  kernel: Kernel,
  wanted: (mapId: number) => boolean,
): { byMap: Map<number, Program[]>; unseen?: string } {
  const byMap = new Map<number, Program[]>();
  try {
    for (const program of listPrograms(kernel)) {
      for (const id of new Set(program.mapIds)) if (wanted(id)) byMap.set(id, [...(byMap.get(id) ?? []), program]);
    }
  } catch (error) {
    if (!(error instanceof NotPermittedError)) throw error;
    return { byMap: new Map(), unseen: 'programs cannot be listed without CAP_SYS_ADMIN' };
  }
  return { byMap };
}
