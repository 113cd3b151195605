/**
 * One batch of the injector over layered entries. Every prefix whose metadata is resolved holds one reference on its
 * identity, whether or not a stronger direct owner hides it, so references always equal users.
 */
import type { Batch, BatchResult, DirectValue, Resolution } from './entry-store.ts';
import { HOLDS_NOTHING, type PrefixState } from './prefix-state.ts';

/** After how many writes other work may run. */
const WRITES_A_STEP = 32;

export interface MetadataEntries {
  putMetadata(key: string, value: DirectValue): void;
  removeMetadata(key: string): void;
}

export class LayeredBatch implements Batch {
  readonly #entries: MetadataEntries;
  readonly #upserts: { readonly key: string; readonly value: DirectValue }[] = [];
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
    this.#upserts.push({
      key: state.key,
      value: {
        identity: identity.id,
        source: flattened.source,
        hostIP: flattened.tunnelPeer === '' ? undefined : flattened.tunnelPeer,
        encryptKey: flattened.encryptKey,
        endpointFlags: Math.max(flattened.endpointFlags, 0),
      },
    });
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
    for (const { key, value } of this.#upserts) {
      this.#entries.putMetadata(key, value);
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
