/** When two entries are the same, for the map and for everybody else. */
import type { CacheEntry, PodMetadata } from './listener.ts';
import { sameNamedPorts } from './named-ports.ts';

type MapEntry = Pick<CacheEntry, 'identity' | 'hostIP' | 'encryptKey' | 'endpointFlags'>;

/** Whether the map would have the same: identity, host, key and flags. */
export function sameInMap(a: MapEntry, b: MapEntry): boolean {
  return (
    a.identity === b.identity &&
    a.hostIP === b.hostIP &&
    a.encryptKey === b.encryptKey &&
    a.endpointFlags === b.endpointFlags
  );
}

export function sameEntry(a: CacheEntry, b: CacheEntry): boolean {
  return sameInMap(a, b) && a.source === b.source && samePod(a.pod, b.pod);
}

/** Absent equals absent. */
export function samePod(a: PodMetadata | undefined, b: PodMetadata | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.namespace === b.namespace && a.name === b.name && sameNamedPorts(a.namedPorts, b.namedPorts);
}
