/** The entries of the cache, whichever rules of ownership they follow. */
import type { Identity } from '../identity/local-allocator.ts';
import type { CacheEntry, PodMetadata } from './listener.ts';
import type { NamedPortTable } from './named-ports.ts';
import type { PackedKey } from './packed-key.ts';
import type { PrefixLengths } from './prefix-lengths.ts';
import type { PrefixState } from './prefix-state.ts';
import type { Flattened } from './resource-info.ts';

/** What a source says about one key by itself, with an identity it knows. */
export interface DirectValue {
  readonly identity: number;
  readonly source: string;
  readonly hostIP?: string | undefined;
  readonly encryptKey?: number | undefined;
  readonly endpointFlags?: number | undefined;
  readonly pod?: PodMetadata | undefined;
}

/**
 * `applied`: the value is what the key has now. `unchanged`: it was already. `outranked`: a stronger source has the key,
 * whose name is given; the value is remembered.
 */
export type UpsertOutcome =
  | { readonly kind: 'applied' | 'unchanged'; readonly namedPortsChanged: boolean }
  | { readonly kind: 'outranked'; readonly by: string };

export interface DeleteRequest {
  readonly source: string;
  /** The instance that speaks, where several have one source name. */
  readonly owner?: string;
  /** Only a value with this identity is deleted. */
  readonly expectIdentity?: number | undefined;
  /** Only a value of this pod is deleted; empty parts are compared too. */
  readonly pod?: Pick<PodMetadata, 'namespace' | 'name'>;
}

/**
 * `deleted`: the owner's value is gone, whatever is seen now. `not-owner`: the key is there, but nothing of this owner.
 * `stale`: the owner's value is not the one that was expected. `unknown`: no such key.
 */
export type DeleteOutcome =
  | { readonly kind: 'deleted'; readonly namedPortsChanged: boolean }
  | { readonly kind: 'not-owner' | 'stale' | 'unknown' };

/** What the injector found for one prefix. */
export interface Resolution {
  readonly identity: Identity;
  readonly flattened: Flattened;
}

/** Some prefixes that are applied together: every upsert, then every delete, then the identities are released. */
export interface Batch {
  /** The identity that the prefix holds before this batch. @returns undefined for none */
  previous(state: PrefixState): number | undefined;
  /** Takes over the reference in `resolution`. @returns whether the entry will be written */
  resolved(state: PrefixState, resolution: Resolution): boolean;
  /** The prefix has no metadata any more. */
  gone(state: PrefixState): void;
  /**
   * Writes the batch; yields now and then so that other work may run.
   * @returns the references to drop, and what is to be done with the numbers that are free after that
   */
  commit(): Generator<void, BatchResult>;
}

export interface BatchResult {
  readonly release: readonly number[];
  readonly afterRelease: (deallocated: readonly number[]) => void;
}

/** One key and what it has, valid until the next one is asked for. */
export interface KeyView {
  readonly key: PackedKey;
  readonly entry: CacheEntry;
}

export interface EntryStore {
  readonly size: number;
  get(key: string): CacheEntry | undefined;
  /**
   * The second of the cache's clock at which the key got what the map has of it: identity, host, key and flags.
   * @returns undefined for an unknown key, and where no times are kept
   */
  sinceOf(key: string): number | undefined;
  /** Whether an endpoint of the same address hides this prefix from the listeners. */
  isShadowed(key: string): boolean;
  entries(): IterableIterator<readonly [key: string, entry: CacheEntry]>;
  /** As `entries`, in one object that is filled again for the next one. */
  views(): IterableIterator<KeyView>;
  upsert(key: string, value: DirectValue, owner: string): UpsertOutcome;
  /** As `upsert`; key and value are read during the call and not kept. */
  upsertPacked(key: PackedKey, value: DirectValue, owner: string): UpsertOutcome;
  delete(key: string, request: DeleteRequest): DeleteOutcome;
  batch(): Batch;
}

/** @typeParam Change what is told of a change */
export interface EntryStoreSetup<Change> {
  readonly publish: (change: Change) => void;
  readonly lengths: PrefixLengths;
  readonly namedPorts: NamedPortTable;
  /** Whole seconds since some moment. */
  readonly seconds?: (() => number) | undefined;
}
