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

/**
 * Entries are kept by the hundred thousand: few fields, small numbers together in one. A layer is changed in place, so that
 * updates make no garbage among long-lived objects; it never leaves the store, only its `snapshot` does.
 */
export class Layer {
  readonly owner: Owner;
  identity: number;
  hostIP: string | undefined;
  pod: PodMetadata | undefined;
  /** The next weaker one. */
  next: Layer | undefined = undefined;
  /** As the first layer of its key: the second, of the store's clock, at which the map's value became this one. */
  since = 0;
  /** Encrypt key and, above it, the endpoint flags. */
  #bits: number;

  constructor({ identity, hostIP, encryptKey = 0, endpointFlags = 0, pod }: DirectValue, owner: Owner) {
    this.owner = owner;
    this.identity = identity;
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

  has({ identity, hostIP, encryptKey = 0, endpointFlags = 0, pod }: DirectValue): boolean {
    return (
      this.identity === identity &&
      this.hostIP === hostIP &&
      this.#bits === ((endpointFlags << 8) | encryptKey) &&
      samePod(this.pod, pod)
    );
  }

  assign({ identity, hostIP, encryptKey = 0, endpointFlags = 0, pod }: DirectValue): void {
    this.identity = identity;
    this.hostIP = hostIP;
    this.#bits = (endpointFlags << 8) | encryptKey;
    if (!samePod(this.pod, pod)) this.pod = pod;
  }

  /** What is seen when this is the first layer: a pod that a direct owner gave is seen through the metadata. */
  snapshot(): CacheEntry {
    const { identity, owner, hostIP, encryptKey, endpointFlags } = this;
    const pod = owner.name === METADATA_OWNER ? this.next?.pod : this.pod;
    return { identity, source: owner.source, hostIP, encryptKey, endpointFlags, pod };
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
