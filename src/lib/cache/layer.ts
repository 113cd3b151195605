/** What one owner says about one key. The layers of a key form a list, strongest first; the first one is what is seen. */
import type { DirectValue } from './entry-store.ts';
import type { CacheEntry, PodMetadata } from './listener.ts';
import { sameNamedPorts } from './named-ports.ts';

/** The owner of the one layer that the metadata gives; no direct owner can have this name. */
export const METADATA_OWNER = '\0metadata';

/** One owner of values. The same object for all its values, so that half a million of them share it. */
export interface Owner {
  readonly name: string;
  readonly source: string;
  /** Smaller is stronger. */
  readonly rank: number;
}

/** Entries are kept by the hundred thousand: few fields, small numbers together in one. */
export class Layer implements CacheEntry {
  readonly identity: number;
  readonly owner: Owner;
  readonly hostIP: string | undefined;
  readonly pod: PodMetadata | undefined;
  /** The next weaker one. */
  next: Layer | undefined = undefined;
  /** Encrypt key and, above it, the endpoint flags. */
  readonly #bits: number;

  constructor({ identity, hostIP, encryptKey = 0, endpointFlags = 0, pod }: DirectValue, owner: Owner) {
    this.identity = identity;
    this.owner = owner;
    this.hostIP = hostIP;
    this.pod = pod;
    this.#bits = (endpointFlags << 8) | encryptKey;
  }

  get source(): string {
    return this.owner.source;
  }

  get encryptKey(): number {
    return this.#bits & 0xff;
  }

  get endpointFlags(): number {
    return this.#bits >>> 8;
  }
}

/** Direct owners are told apart by source and name; the metadata is one owner whatever its source is. */
export function findLayer(head: Layer | undefined, owner: Owner): Layer | undefined {
  for (let layer = head; layer !== undefined; layer = layer.next) {
    if (layer.owner === owner || (owner.name === METADATA_OWNER && layer.owner.name === METADATA_OWNER)) return layer;
  }
  return undefined;
}

/** Puts a layer before those that are not stronger: of equals the latest is seen. @returns the new head */
export function insertLayer(head: Layer | undefined, layer: Layer): Layer {
  const { rank } = layer.owner;
  let before: Layer | undefined;
  let after = head;
  while (after !== undefined && after.owner.rank < rank) {
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
  if (head?.owner.name !== METADATA_OWNER || head.next?.pod === undefined) return head;
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
