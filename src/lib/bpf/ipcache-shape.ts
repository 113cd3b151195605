/**
 * The shape that every ipcache map ever had: an LPM trie with 24-byte keys and values of 8 (Cilium 1.0 to 1.4), 12
 * (1.5 to 1.17) or 24 bytes (since 1.18); pkg/maps/ipcache of those versions.
 */
import { AmbiguousError } from '../errors.ts';
import type { MapInfo } from './map-info.ts';
import { mapTypeName } from './type-names.ts';
import { BPF_MAP_TYPE_LPM_TRIE } from './uapi.ts';

const KEY_BYTES = 24;
const VALUE_BYTES: readonly number[] = [8, 12, 24];

interface ShapedMap {
  readonly label: string;
  readonly info: MapInfo;
  readonly path?: string | undefined;
}

type Shape = Pick<MapInfo, 'type' | 'keyBytes' | 'valueBytes'>;

/** True for whatever could be an ipcache; the layout within is decided elsewhere. */
export function hasIpcacheShape({ type, keyBytes, valueBytes }: Shape): boolean {
  return type === BPF_MAP_TYPE_LPM_TRIE && keyBytes === KEY_BYTES && VALUE_BYTES.includes(valueBytes);
}

/** The error for a map of another shape, NOT_AN_IPCACHE, naming type and sizes; undefined for an ipcache's. */
export function ipcacheShapeError({ label, info, path }: ShapedMap): AmbiguousError | undefined {
  if (hasIpcacheShape(info)) return undefined;
  const { id, keyBytes, valueBytes } = info;
  const mapType = mapTypeName(info.type);
  return new AmbiguousError(
    `Cannot use ${label} as an ipcache: it is of type ${mapType} with ${keyBytes}-byte keys and ${valueBytes}-byte values`,
    {
      code: 'NOT_AN_IPCACHE',
      hint: 'an ipcache is an lpm_trie with 24-byte keys and 8-, 12- or 24-byte values; ipc doctor lists the ones of this node',
      operands: { ...(path === undefined ? {} : { path }), mapId: id, mapType, keyBytes, valueBytes },
    },
  );
}
