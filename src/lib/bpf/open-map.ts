/** Opens the one map that a reference names, whatever its shape. */
import { AmbiguousError, NotFoundError } from '../errors.ts';
import { datapathMaps } from './datapath-maps.ts';
import { BpfMap } from './map.ts';
import { type MapInfo, readMapInfo } from './map-info.ts';
import { listMaps } from './map-list.ts';
import type { MapRef } from './map-ref.ts';
import { openById } from './object-ids.ts';
import { type OpenPinOptions, openPin } from './open-pin.ts';
import { BPF_OBJ_NAME_LEN } from './uapi.ts';

/**
 * @returns a map that the caller disposes of; read-only unless `write`.
 * @throws {NotFoundError} nothing of that path, id or name; for `datapath` no program holds an ipcache.
 * @throws {AmbiguousError} AMBIGUOUS_MAP several maps have the name, or programs hold several ipcaches.
 * @throws {NotPermittedError} ids, names and programs need CAP_SYS_ADMIN.
 */
export function openMap(ref: MapRef, options: OpenPinOptions): BpfMap {
  switch (ref.kind) {
    case 'pin':
    case 'file':
      // A path elsewhere cannot be a map: opening it as one says so.
      return openPin(ref.path, options);
    case 'id':
      return openMapById(ref.id, options);
    case 'name':
      return openMapById(idOfName(ref.name, options), options);
    case 'datapath':
      return openMapById(idInDatapath(options), options);
  }
}

function openMapById(id: number, { kernel, write }: OpenPinOptions): BpfMap {
  using fd = openById(kernel, 'map', id, write);
  if (fd === undefined) {
    throw new NotFoundError(`Cannot open map id:${id}: no map has this id`, {
      code: 'MAP_NOT_FOUND',
      hint: 'ipc doctor lists the maps of this node',
      operands: { mapId: id, errno: 'ENOENT', syscall: 'BPF_MAP_GET_FD_BY_ID' },
    });
  }
  const info = readMapInfo(kernel, fd.number, `map id:${id}`);
  return new BpfMap({ kernel, fd: fd.release(), info });
}

/** The kernel keeps 15 characters of a name: a longer one that was asked for is compared by those. */
function idOfName(name: string, { kernel }: OpenPinOptions): number {
  const kept = name.slice(0, BPF_OBJ_NAME_LEN - 1);
  const matches = [...listMaps(kernel)].filter((info) => info.name === kept);
  const [first] = matches;
  if (first === undefined) {
    throw new NotFoundError(`Cannot open map name:${name}: no map is called ${kept}`, {
      code: 'MAP_NOT_FOUND',
      hint: 'names are cut to 15 characters; ipc doctor lists the maps of this node',
      operands: { name },
    });
  }
  if (matches.length === 1) return first.id;
  throw several(`name:${name}`, `${matches.length} maps are called ${kept}`, matches.map(describeMap), first.id);
}

function idInDatapath({ kernel }: OpenPinOptions): number {
  const maps = datapathMaps(kernel);
  const [first] = maps;
  if (first === undefined) {
    throw new NotFoundError('Cannot open map datapath: no loaded program holds an ipcache', {
      code: 'MAP_NOT_FOUND',
      hint: 'ipc doctor lists the maps and pins of this node',
    });
  }
  if (maps.length === 1) return first.info.id;
  const lines = maps.map(({ info, programs }) => `${describeMap(info)} in ${programs.length} programs`);
  throw several('datapath', `loaded programs hold ${maps.length} ipcaches`, lines, first.info.id);
}

function several(ref: string, state: string, candidates: readonly string[], example: number): AmbiguousError {
  return new AmbiguousError(`Cannot open map ${ref}: ${state}: ${candidates.join('; ')}`, {
    code: 'AMBIGUOUS_MAP',
    hint: `name one by its id, for example --map id:${example}`,
    operands: { candidates },
  });
}

function describeMap({ id, name, keyBytes, valueBytes, maxEntries }: MapInfo): string {
  return `id ${id} (${name === '' ? 'no name' : name}, ${keyBytes}+${valueBytes} bytes, at most ${maxEntries} entries)`;
}
