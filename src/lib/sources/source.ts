/**
 * What every source of addresses and identities has in common, whether it is a file, a pipe, a kvstore or an agent.
 * Whoever wants to know the desired state once reads it (release, gc, verify); whoever feeds a cache follows it (listen).
 */
import type { PodMetadata } from '../cache/listener.ts';
import type { MetadataRemoval, MetadataUpdate } from '../cache/metadata.ts';
import type { IdentityScope } from '../identity/numeric-identity.ts';
import type { Family } from '../net/address.ts';
import type { PlainUpsert } from './plain-upsert.ts';

/** What a source says about one prefix. */
export interface SourceRecord {
  /** A cache key: a bare address for an endpoint, else `ADDR/LEN[@CLUSTER]`; `prefixTextOf` makes it a prefix. */
  readonly key: string;
  /** Absent when the source claims the prefix without knowing its number. */
  readonly identity?: number | undefined;
  /** The Cilium source of the record. */
  readonly source: string;
  /** `source:key=value` in canonical order. */
  readonly labels?: readonly string[] | undefined;
  /** The resource that gave it, for metadata. */
  readonly resource?: string | undefined;
  /** Where the address lives. Whether that becomes a tunnel is for the rules of this node to say. */
  readonly hostIP?: string | undefined;
  /** The tunnel as a map has it, from sources that describe a map. */
  readonly tunnelEndpoint?: string | undefined;
  readonly encryptKey?: number | undefined;
  /** The flags byte as a map has it, from sources that describe a map. */
  readonly flags?: number | undefined;
  /** Flags that an endpoint asks for: skip tunnel 1, remote cluster 8. */
  readonly endpointFlags?: number | undefined;
  readonly pod?: PodMetadata | undefined;
}

/** A change, in the order in which the source made it. */
export type SourceEvent =
  | { readonly op: 'upsert'; readonly record: SourceRecord & { readonly identity: number } }
  | {
      readonly op: 'delete';
      readonly key: string;
      readonly source: string;
      /** Nothing is deleted when the present identity is another one. */
      readonly expectIdentity?: number | undefined;
      /** Nothing is deleted when the address belongs to another pod by now. */
      readonly pod?: Pick<PodMetadata, 'namespace' | 'name'> | undefined;
    }
  | { readonly op: 'upsertMetadata'; readonly update: MetadataUpdate }
  | { readonly op: 'removeMetadata'; readonly removal: MetadataRemoval };

/** Takes what a source that is followed has to say. */
export interface SourceSink {
  event(event: SourceEvent): void;
  /**
   * An upsert as `event` would get it, in an object that is only valid during the call. A source that reads very many
   * makes no others for a sink that takes them.
   */
  upsert?(upsert: PlainUpsert): void;
  /** Everything that existed when the source was asked has been told. */
  synced(): void;
  /** Nothing that was told is taken back, but it may be out of date until `synced` comes again. */
  lost(reason: string): void;
  /** A sink that has enough work; the source goes on reading when it settles. */
  drained?(): Promise<void> | undefined;
}

export interface ReadOptions {
  readonly signal?: AbortSignal;
  /** How long the source may take to sync. */
  readonly timeoutMs: number;
  /** What counts is this moment: nothing is taken from what the source has told since an earlier reading. */
  readonly isFresh?: boolean | undefined;
}

/** One complete look at a source. Without an error everything that exists was visited, each record once. */
export interface Reading {
  /** Another text when anything may have changed since; the same one says nothing. */
  readonly revision: string;
  readonly records: number;
}

export interface Source extends AsyncDisposable {
  /** As in `name=X`, or the reference itself. */
  readonly name: string;
  /** The Cilium source that its records have unless they say otherwise. */
  readonly rank: string;
  /**
   * Whether the absence of a prefix here means anything for entries of this kind. Answers rest on the latest reading, or
   * on what was told until now.
   */
  speaksFor(scope: IdentityScope, family: Family, clusterId: number): boolean;
  /**
   * Visits every record of one complete reading.
   * @throws {UnreachableError} when the source cannot be reached, breaks off, or does not sync in time
   * @throws {MalformedError} for input that cannot be relied on
   */
  read(visit: (record: SourceRecord) => void, options: ReadOptions): Promise<Reading>;
  /** Whether a reading now is certain to be the same as the latest; absent: it never is. */
  isUnchanged?(): boolean;
  /**
   * Why what it lists is no claim yet, to follow a colon: it holds placeholders of its own that it does not tell from the
   * rest. Absent, or undefined: it counts.
   */
  unsettled?(options: ReadOptions): Promise<string | undefined>;
  /**
   * Begins a reading that the next `readPrefixes` gives, if it is certain then that one begun at that time would be the
   * same. Absent where that cannot be known.
   */
  prepare?(options: ReadOptions): void;
  /**
   * As `read`, for whoever only asks which prefixes there are: 20 bytes each, as in EntryRow.sortKey, the same array every
   * time. Absent where that is not faster.
   */
  readPrefixes?(visit: (sortKey: Uint8Array) => void, options: ReadOptions): Promise<Reading>;
  /**
   * Tells the sink everything that is there, then every change, until the signal fires or the source has ended.
   * A source that is down is tried again for ever; each change of its state is told once.
   */
  follow(sink: SourceSink, options: { readonly signal: AbortSignal }): Promise<void>;
}
