/**
 * What `ipc` remembers in `checkpoint.json`: only what cannot be learnt again. The published shape is
 * `schemas/checkpoint.json`. Records are never changed in place, so that a slow writer sees one moment.
 */

export interface StateCheckpoint {
  /** The one pin that the state directory belongs to: an absolute path. */
  readonly pin: string;
  /** When it was written, RFC 3339 UTC with milliseconds. */
  readonly time: string;
  readonly bootId: string;
  /** The map that the state was last written for. */
  readonly map?: { readonly id: number; readonly layout: string };
  /** The agent loop that keeps the file; absent after a one-shot command. */
  readonly writer?: StateWriter;
  readonly restored?: RestoredState;
  readonly identities: readonly StateIdentity[];
  /** Canonical prefixes of ingress addresses. */
  readonly ingress: readonly string[];
  readonly placeholders: readonly Placeholder[];
  readonly sources: readonly SourceState[];
  /** Writes that the map has not taken yet. */
  readonly pending: readonly PendingWrite[];
  /** What gc deleted lately: its limit is summed over an hour. */
  readonly collected: readonly CollectedState[];
}

/**
 * What is written: as `StateCheckpoint`, but the long lists may be made while they are written. Nothing that they are made
 * of may change meanwhile.
 */
export interface StateDraft extends Omit<StateCheckpoint, 'pin' | 'identities' | 'placeholders'> {
  readonly identities: Iterable<IdentityDraft>;
  readonly placeholders: Iterable<Placeholder>;
}

export interface IdentityDraft extends Omit<StateIdentity, 'prefixes'> {
  readonly prefixes: Iterable<string>;
}

export interface StateWriter {
  readonly pid: number;
  readonly started: string;
  /** Whether it stopped in order, so that the file has its last change. */
  readonly drained: boolean;
}

export interface RestoredState {
  readonly time: string;
  /** The outgoing map; absent when a snapshot was read. */
  readonly mapId?: number;
  /** The snapshot, when there was no map. */
  readonly from?: string;
  readonly graceMs: number;
  /** When the grace period began; absent while the sources are not synced. */
  readonly graceFrom?: string;
  /** When the placeholders were ended; absent before. */
  readonly released?: string;
  readonly summary: Readonly<Record<string, number | null>>;
}

/** A local or remote-node identity. */
export interface StateIdentity {
  readonly identity: number;
  /** `source:key=value` in canonical order; absent: only the number is known. */
  readonly labels?: readonly string[];
  readonly labelsFrom?: 'allocator' | 'snapshot' | 'listen' | 'agent' | 'guessed';
  /** Canonical prefixes that have this identity. */
  readonly prefixes: readonly string[];
}

/** Metadata with source `restored`, resource `daemon//restored`, that ends with the grace period. */
export interface Placeholder {
  readonly prefix: string;
  readonly identity: number;
  /** The number was asked for as such, because no labels were known for it. */
  readonly requested?: true;
  /** Absent: those of the identity. */
  readonly labels?: readonly string[];
  readonly time: string;
}

export interface SourceState {
  readonly name: string;
  /** As the user wrote it, without secrets. */
  readonly reference: string;
  readonly rank: string;
  /** When it was last complete; absent: never. */
  readonly synced?: string;
  readonly connected: boolean;
  readonly error?: string;
}

export interface PendingWrite {
  readonly op: 'upsert' | 'delete';
  readonly prefix: string;
  readonly identity?: number;
  readonly tunnelEndpoint?: string;
  readonly encryptKey?: number;
  readonly flags?: readonly string[];
  /** What the kernel answered last. */
  readonly errno?: string;
}

export interface CollectedState {
  readonly time: string;
  readonly family: 'ipv4' | 'ipv6';
  readonly scope: 'reserved' | 'global' | 'local' | 'remote-node' | 'unknown';
  readonly deleted: number;
}

/** The state of a pin for which nothing has been done yet. */
export function emptyCheckpoint(pin: string, time: string, bootId: string): StateCheckpoint {
  return {
    pin,
    time,
    bootId,
    identities: [],
    ingress: [],
    placeholders: [],
    sources: [],
    pending: [],
    collected: [],
  };
}
