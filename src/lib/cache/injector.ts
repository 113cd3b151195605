/**
 * Turns queued prefixes into identities and entries (Cilium 1.21, pkg/ipcache/metadata.go). Within one batch every
 * identity is taken first, then policy hears of new ones, then entries are written and deleted, and only then the old
 * identities are released.
 */
import { ToolError } from '../errors.ts';
import type { CachingAllocator } from '../identity/caching-allocator.ts';
import type { Labels } from '../identity/labels.ts';
import { type NumericIdentity, numericIdentity } from '../identity/numeric-identity.ts';
import type { IdentityOptions } from '../identity/options.ts';
import { IDENTITY_HOST } from '../identity/reserved.ts';
import type { Prefix } from '../net/prefix.ts';
import { prefixOf } from './cache-key.ts';
import type { Batch, EntryStore, Resolution } from './entry-store.ts';
import { HostLabels } from './host-labels.ts';
import type { Metadata } from './metadata.ts';
import type { NumberMeanings } from './number-meanings.ts';
import type { PrefixState } from './prefix-state.ts';
import type { CacheProblem } from './problem.ts';
import { resolveLabels } from './resolve-labels.ts';
import type { Flattened } from './resource-info.ts';

/** How many prefixes share a batch: identities are released at its end, so this bounds how many exist in excess. */
export const BATCH_PREFIXES = 512;

/** After how many resolved prefixes other work may run. */
const PREFIXES_A_STEP = 16;

export interface InjectorSetup {
  readonly metadata: Metadata;
  readonly entries: EntryStore;
  readonly allocator: CachingAllocator;
  readonly options: IdentityOptions;
  /** Prefixes that get their identity elsewhere, such as the address of a local pod. */
  readonly isClaimed: ((key: string) => boolean) | undefined;
  /** Absent: a number that is asked for is given, whatever it has stood for. */
  readonly meanings: NumberMeanings | undefined;
  readonly onIdentitiesAdded: ((added: ReadonlyMap<NumericIdentity, Labels>) => void) | undefined;
  readonly onProblem: (problem: CacheProblem) => void;
}

export interface InjectionResult {
  /** What has to be tried again; empty when all is done. */
  readonly remaining: readonly PrefixState[];
  readonly error?: ToolError;
}

export class Injector {
  readonly hostLabels = new HostLabels();
  readonly #setup: InjectorSetup;

  constructor(setup: InjectorSetup) {
    this.#setup = setup;
  }

  /**
   * Resolves and applies prefixes in batches. It yields every few prefixes so that the caller decides how long it goes on
   * at a time.
   * @param batchPrefixes how many share a batch; Infinity while nothing is there to be released
   */
  *inject(states: readonly PrefixState[], batchPrefixes: number): Generator<void, InjectionResult> {
    for (let from = 0; from < states.length; from += batchPrefixes) {
      const chunk = states.slice(from, from + batchPrefixes);
      const { done, error } = yield* this.#injectBatch(chunk);
      if (error !== undefined) return { remaining: states.slice(from + done), error };
    }
    return { remaining: [] };
  }

  *#injectBatch(states: readonly PrefixState[]): Generator<void, { done: number; error?: ToolError }> {
    const batch = this.#setup.entries.batch();
    const added: Map<NumericIdentity, Labels> | undefined = this.#setup.onIdentitiesAdded && new Map();
    let done = 0;
    let failure: ToolError | undefined;
    for (const state of states) {
      failure = this.#resolveOne(state, batch, added);
      if (failure !== undefined) break;
      if (++done % PREFIXES_A_STEP === 0) yield;
    }
    if (added !== undefined && added.size > 0) this.#setup.onIdentitiesAdded?.(added);
    const { release, afterRelease } = yield* batch.commit();
    const released = release.map(numericIdentity);
    this.#setup.meanings?.beforeRelease(released);
    const { deallocated, nonLocal } = this.#setup.allocator.releaseLocalIdentities(released);
    afterRelease(deallocated);
    for (const identity of nonLocal) this.#setup.onProblem({ kind: 'release-failed', identity });
    for (const state of states.slice(0, done)) {
      if (state.flattened === undefined && !state.queued) this.#setup.metadata.forget(state, prefixOf(state.key));
    }
    return failure === undefined ? { done } : { done, error: failure };
  }

  #resolveOne(
    state: PrefixState,
    batch: Batch,
    added: Map<NumericIdentity, Labels> | undefined,
  ): ToolError | undefined {
    const { flattened } = state;
    const prefix = prefixOf(state.key);
    const previous = batch.previous(state);
    let identity: number | undefined;
    if (flattened === undefined || this.#setup.isClaimed?.(state.key)) batch.gone(state);
    else {
      const result = this.#allocate(prefix, state.key, flattened);
      if (result instanceof ToolError) return result;
      identity = result.identity.id;
      const writes = batch.resolved(state, { identity: result.identity, flattened });
      if ((writes && result.isNew) || identity === IDENTITY_HOST)
        added?.set(result.identity.id, result.identity.labels);
    }
    if (previous === IDENTITY_HOST && identity !== IDENTITY_HOST && prefix.clusterId === 0) {
      const union = this.hostLabels.delete(state.key);
      added?.set(numericIdentity(IDENTITY_HOST), union);
    }
    return undefined;
  }

  #allocate(
    prefix: Prefix,
    key: string,
    flattened: Flattened,
  ): (Pick<Resolution, 'identity'> & { readonly isNew: boolean }) | ToolError {
    const parents = flattened.identityOverride ? [] : this.#setup.metadata.inherited(prefix);
    const labels = resolveLabels(prefix, flattened, parents, this.#setup.options);
    if (!flattened.identityOverride && prefix.clusterId === 0 && labels.has('host')) {
      const union = this.hostLabels.set(key, labels);
      return { identity: { id: numericIdentity(IDENTITY_HOST), labels: union, refCount: 0 }, isNew: false };
    }
    const wanted = flattened.identityOverride ? 0 : flattened.requestedIdentity;
    const { allocator, meanings } = this.#setup;
    const requested = meanings?.requestable(wanted, labels) ?? wanted;
    try {
      return allocator.allocateLocalIdentity(labels, { requested });
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      this.#setup.onProblem({ kind: 'allocation-failed', prefix: key, labels, error });
      return error;
    }
  }
}
