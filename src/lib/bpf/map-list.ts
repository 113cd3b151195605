/** All maps of the machine. */
import type { Kernel } from '../native/kernel.ts';
import { type MapInfo, readMapInfo } from './map-info.ts';
import { objectIds, openById } from './object-ids.ts';

/** The info of every map, by growing id; none stays open. @throws {NotPermittedError} without CAP_SYS_ADMIN. */
export function* listMaps(kernel: Kernel): Generator<MapInfo, void> {
  for (const id of objectIds(kernel, 'map')) {
    using fd = openById(kernel, 'map', id);
    // Gone since its id was read.
    if (fd === undefined) continue;
    yield readMapInfo(kernel, fd.number, `map id:${id}`);
  }
}
