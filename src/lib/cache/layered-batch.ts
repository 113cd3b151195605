/**
 * One batch of the injector over layered entries. Every prefix whose metadata is resolved holds one reference on its
 * identity, whether or not a stronger direct owner hides it, so references always equal users.
 */
import type { Batch, BatchResult, DirectValue, Resolution } from './entry-store.ts';
import { HOLDS_NOTHING, type PrefixState } from './prefix-state.ts';
import type { Flattened } from './resource-info.ts';

/** After how many writes other work may run. */
const WRITES_A_STEP = 32;

export interface MetadataEntries {
  putMetadata(key: string, value: DirectValue): void;
  removeMetadata(key: string): void;
}

export class LayeredBatch implements Batch {
  readonly #entries: MetadataEntries;
  /** What to write, side by side: the first batch may be everything there is. */
  readonly #written: PrefixState[] = [];
  readonly #identities: number[] = [];
  readonly #flattened: Flattened[] = [];
  readonly #removals: string[] = [];
  readonly #release: number[] = [];

  constructor(entries: MetadataEntries) {
    this.#entries = entries;
  }

  previous(state: PrefixState): number | undefined {
    return state.held === HOLDS_NOTHING ? undefined : state.held;
  }

  resolved(state: PrefixState, { identity, flattened }: Resolution): boolean {
    this.#drop(state);
    state.held = identity.id;
    this.#written.push(state);
    this.#identities.push(identity.id);
    this.#flattened.push(flattened);
    return true;
  }

  gone(state: PrefixState): void {
    if (state.held === HOLDS_NOTHING) return;
    this.#drop(state);
    state.held = HOLDS_NOTHING;
    this.#removals.push(state.key);
  }

  *commit(): Generator<void, BatchResult> {
    let writes = 0;
    for (const [i, { key }] of this.#written.entries()) {
      const flattened = this.#flattened[i];
      if (flattened !== undefined) this.#entries.putMetadata(key, metadataValue(this.#identities[i] ?? 0, flattened));
      if (++writes % WRITES_A_STEP === 0) yield;
    }
    for (const key of this.#removals) {
      this.#entries.removeMetadata(key);
      if (++writes % WRITES_A_STEP === 0) yield;
    }
    return { release: this.#release, afterRelease: () => {} };
  }

  #drop(state: PrefixState): void {
    if (state.held !== HOLDS_NOTHING) this.#release.push(state.held);
  }
}

function metadataValue(identity: number, flattened: Flattened): DirectValue {
  const { source, tunnelPeer, encryptKey, endpointFlags } = flattened;
  return {
    identity,
    source,
    hostIP: tunnelPeer === '' ? undefined : tunnelPeer,
    encryptKey,
    endpointFlags: Math.max(endpointFlags, 0),
    pod: undefined,
  };
}
