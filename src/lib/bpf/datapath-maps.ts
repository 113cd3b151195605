/** The ipcache maps that loaded programs hold: what the datapath reads, whatever is pinned. */
import type { Kernel } from '../native/kernel.ts';
import { hasIpcacheShape } from './ipcache-shape.ts';
import type { MapInfo } from './map-info.ts';
import { listMaps } from './map-list.ts';
import { listPrograms, type Program } from './prog-list.ts';

export interface DatapathMap {
  readonly info: MapInfo;
  /** At least one. */
  readonly programs: readonly Program[];
}

/** The map with the most programs first; during an agent's restart there are two. @throws {NotPermittedError} */
export function datapathMaps(kernel: Kernel): DatapathMap[] {
  const programs = [...listPrograms(kernel)];
  const maps: DatapathMap[] = [];
  for (const info of listMaps(kernel)) {
    if (!hasIpcacheShape(info)) continue;
    const holders = programs.filter(({ mapIds }) => mapIds.includes(info.id));
    if (holders.length > 0) maps.push({ info, programs: holders });
  }
  return maps.sort((a, b) => b.programs.length - a.programs.length || a.info.id - b.info.id);
}
