/** What one owner says about one key. The layers of a key form a list, strongest first; the first one is what is seen. */
import type { DirectValue } from './entry-store.ts';
import type { CacheEntry, PodMetadata } from './listener.ts';
import { sameNamedPorts } from './named-ports.ts';
import { sourceRank } from './source-rank.ts';

/** The owner of the one layer that the metadata gives; no direct owner can have this name. */
export const METADATA_OWNER = '\0metadata';

export class Layer implements CacheEntry {
  readonly identity: number;
  readonly source: string;
  readonly owner: string;
  readonly hostIP: string | undefined;
  readonly encryptKey: number;
  readonly endpointFlags: number;
  readonly pod: PodMetadata | undefined;
  /** The next weaker one. */
  next: Layer | undefined = undefined;

  constructor(value: DirectValue, owner: string) {
    this.identity = value.identity;
    this.source = value.source;
    this.owner = owner;
    this.hostIP = value.hostIP;
    this.encryptKey = value.encryptKey ?? 0;
    this.endpointFlags = value.endpointFlags ?? 0;
    this.pod = value.pod;
  }
}

/** Direct owners are told apart by source and name; the metadata is one owner whatever its source is. */
export function findLayer(head: Layer | undefined, owner: string, source: string): Layer | undefined {
  for (let layer = head; layer !== undefined; layer = layer.next) {
    if (layer.owner === owner && (owner === METADATA_OWNER || layer.source === source)) return layer;
  }
  return undefined;
}

/** Puts a layer before those that are not stronger: of equals the latest is seen. @returns the new head */
export function insertLayer(head: Layer | undefined, layer: Layer): Layer {
  const rank = sourceRank(layer.source);
  let before: Layer | undefined;
  let after = head;
  while (after !== undefined && sourceRank(after.source) < rank) {
    before = after;
    after = after.next;
  }
  layer.next = after;
  if (before === undefined || head === undefined) return layer;
  before.next = layer;
  return head;
}

/** @returns the new head; undefined when nothing is left */
export function removeLayer(head: Layer, layer: Layer): Layer | undefined {
  if (head === layer) return head.next;
  for (let before: Layer | undefined = head; before !== undefined; before = before.next) {
    if (before.next === layer) before.next = layer.next;
  }
  return head;
}

/** What is seen: the first layer, with the pod of a direct owner when the first one is the metadata's. */
export function effectiveEntry(head: Layer | undefined): CacheEntry | undefined {
  if (head?.owner !== METADATA_OWNER || head.next?.pod === undefined) return head;
  const { identity, source, hostIP, encryptKey, endpointFlags } = head;
  return { identity, source, hostIP, encryptKey, endpointFlags, pod: head.next.pod };
}

/** Whether the map would have the same: identity, host, key and flags. */
export function sameInMap(a: CacheEntry, b: CacheEntry): boolean {
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
