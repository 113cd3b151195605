/** The way every command comes to its map: what the user named, else the pin of this node, and only if it is an ipcache. */
import { readFileSync } from 'node:fs';
import { bpffsRoots } from './bpffs.ts';
import { findIpcachePin } from './find-pin.ts';
import { ipcacheShapeError } from './ipcache-shape.ts';
import type { BpfMap } from './map.ts';
import type { MapRef } from './map-ref.ts';
import { openMap } from './open-map.ts';
import { type OpenPinOptions, openPin } from './open-pin.ts';
import type { PinChoice } from './pick-pin.ts';

export interface OpenIpcacheOptions extends OpenPinOptions {
  /** --bpffs: where to look for the pin, instead of every mounted bpffs. */
  readonly bpffs?: string | undefined;
  /** The value of TC_BPF_MNT. */
  readonly tcBpfMnt?: string | undefined;
}

export interface OpenedIpcache {
  /** Disposed of by the caller. */
  readonly map: BpfMap;
  /** How the pin was chosen, to be printed; absent where the user named the map. */
  readonly choice?: PinChoice;
}

/** An agent that restarts replaces its pin once, not again and again. */
const MAX_TRIES = 3;

/**
 * @param ref undefined: find the pin. @throws what openMap, bpffsRoots and findIpcachePin throw, and
 * @throws {AmbiguousError} NOT_AN_IPCACHE the map has another type or other sizes; nothing was read from it.
 */
export function openIpcacheMap(ref: MapRef | undefined, options: OpenIpcacheOptions): OpenedIpcache {
  if (ref !== undefined) return { map: checked(openMap(ref, options)) };
  for (let tries = 1; ; tries++) {
    const choice = choosePin(options);
    const map = checked(openPin(choice.path, options));
    // Another map was pinned there since the choice was made: what was found out is about the old one.
    if (map.info.id === choice.mapId || tries === MAX_TRIES) return { map, choice: { ...choice, mapId: map.info.id } };
    map[Symbol.dispose]();
  }
}

function choosePin({ kernel, bpffs, tcBpfMnt, procRoot = '/proc' }: OpenIpcacheOptions): PinChoice {
  const roots = bpffsRoots({ bpffs, tcBpfMnt, mountinfo: readMountinfo(procRoot) });
  return findIpcachePin({ kernel, roots, procRoot });
}

function readMountinfo(procRoot: string): string | undefined {
  try {
    return readFileSync(`${procRoot}/self/mountinfo`, 'utf8');
  } catch {
    return undefined;
  }
}

function checked(map: BpfMap): BpfMap {
  const error = ipcacheShapeError(map);
  if (error === undefined) return map;
  map[Symbol.dispose]();
  throw error;
}
