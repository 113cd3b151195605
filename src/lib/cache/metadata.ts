/**
 * The metadata: prefix → resource → information, and which prefixes a change touches. A change to a prefix touches every
 * longer prefix inside it, because labels are inherited (Cilium 1.21, pkg/ipcache/metadata.go).
 */
import type { Labels } from '../identity/labels.ts';
import { formatPrefix, type Prefix } from '../net/prefix.ts';
import { type Conflict, flatten } from './flatten.ts';
import { MetadataTries } from './metadata-tries.ts';
import { NO_RESOURCES, PrefixState } from './prefix-state.ts';
import { newResourceID } from './resource-id.ts';
import { type Flattened, type InfoKind, type MetadataInfo, ResourceInfo } from './resource-info.ts';

export interface MetadataUpdate {
  readonly prefix: Prefix;
  readonly source: string;
  readonly resource: string;
  readonly info: MetadataInfo;
  /** One of many policies that name the same CIDR: counted, and kept once. */
  readonly isCidr?: boolean;
}

export interface MetadataRemoval {
  readonly prefix: Prefix;
  readonly resource: string;
  /** An empty list removes nothing, but the prefix is resolved again. */
  readonly what: readonly InfoKind[];
  readonly isCidr?: boolean;
}

export const CONSOLIDATED_RESOURCE = newResourceID('daemon', '', 'consolidated-prefix');

export type ConflictHandler = (prefix: string, conflict: Conflict) => void;

export class Metadata {
  readonly #tries = new MetadataTries();
  readonly #onConflict: ConflictHandler | undefined;
  readonly #cidrCounts = new Map<string, number>();

  constructor(onConflict?: ConflictHandler) {
    this.#onConflict = onConflict;
  }

  /** How many prefixes have metadata or are still waiting to lose their entry. */
  get size(): number {
    return this.#tries.size;
  }

  /** How often each counted CIDR was added. */
  get cidrCounts(): ReadonlyMap<string, number> {
    return this.#cidrCounts;
  }

  /** @param touched called for every prefix that must be resolved again; not at all when nothing changed */
  upsert(update: MetadataUpdate, touched: (state: PrefixState) => void): void {
    if (update.isCidr && this.#count(update.prefix, 1) > 1) return;
    const state = this.#tries.get(update.prefix) ?? this.#add(update.prefix);
    const resource = update.isCidr ? CONSOLIDATED_RESOURCE : update.resource;
    let info = state.resources.find((candidate) => candidate.resource === resource);
    const isNew = info === undefined;
    if (info === undefined) {
      info = new ResourceInfo(resource, update.source);
      state.resources = state.resources.length === 0 ? [info] : [...state.resources, info];
    }
    if (!info.merge(update.info, update.source) && !isNew) return;
    this.#flatten(state);
    this.#touch(update.prefix, touched);
  }

  /** @param touched as for `upsert` */
  remove(removal: MetadataRemoval, touched: (state: PrefixState) => void): void {
    if (removal.isCidr && this.#count(removal.prefix, -1) !== 0) return;
    const state = this.#tries.get(removal.prefix);
    const resource = removal.isCidr ? CONSOLIDATED_RESOURCE : removal.resource;
    const info = state?.resources.find((candidate) => candidate.resource === resource);
    if (state === undefined || info === undefined) return;
    this.#touch(removal.prefix, touched);
    info.clear(removal.what);
    if (!info.isValid()) state.resources = state.resources.filter((candidate) => candidate !== info);
    if (!state.resources.some((candidate) => candidate.isValid())) state.resources = NO_RESOURCES;
    this.#flatten(state);
  }

  /** @returns undefined when no resource says anything about exactly this prefix */
  get(prefix: Prefix): Flattened | undefined {
    return this.#tries.get(prefix)?.flattened;
  }

  /** The labels of what covers the prefix, longest first, without the prefix itself. */
  inherited(prefix: Prefix): Labels[] {
    const found: Labels[] = [];
    for (const state of this.#tries.covering(prefix)) {
      // Read once for all that is inside: there may be very many.
      state.inheritable ??= state.flattened?.labels?.expand();
      if (state.inheritable !== undefined) found.push(state.inheritable);
    }
    return found;
  }

  /** Every prefix, also those without metadata that wait to lose their entry; in no particular order. */
  states(): IterableIterator<PrefixState> {
    return this.#tries.values();
  }

  /** Forgets a state that has neither metadata nor an entry any more. */
  forget(state: PrefixState, prefix: Prefix): void {
    if (state.flattened === undefined) this.#tries.delete(prefix);
  }

  #add(prefix: Prefix): PrefixState {
    const state = new PrefixState(formatPrefix(prefix));
    this.#tries.set(prefix, state);
    return state;
  }

  /** A prefix that only waits to lose its entry is touched when its own metadata went, not by its parents. */
  #touch(prefix: Prefix, touched: (state: PrefixState) => void): void {
    this.#tries.forEachWithin(prefix, (state) => {
      if (state.flattened !== undefined) touched(state);
    });
  }

  #flatten(state: PrefixState): void {
    state.inheritable = undefined;
    if (state.resources.length === 0) {
      state.flattened = undefined;
      state.conflicts = undefined;
      return;
    }
    const { flattened, conflicts } = flatten(state.resources);
    state.flattened = flattened;
    const known = state.conflicts;
    state.conflicts = conflicts.length === 0 ? undefined : conflicts.map(conflictText);
    for (const conflict of conflicts) {
      if (!known?.includes(conflictText(conflict))) this.#onConflict?.(state.key, conflict);
    }
  }

  /** @returns the new count; -1 when there was nothing to take away */
  #count(prefix: Prefix, by: 1 | -1): number {
    const key = formatPrefix(prefix);
    const count = (this.#cidrCounts.get(key) ?? 0) + by;
    if (count > 0) this.#cidrCounts.set(key, count);
    else this.#cidrCounts.delete(key);
    return count;
  }
}

function conflictText({ kind, winner, loser, key }: Conflict): string {
  return [kind, winner, loser, key ?? ''].join(' ');
}
