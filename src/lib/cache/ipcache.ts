/**
 * The cache of addresses and prefixes → identities, in memory: metadata that is resolved into identities, values that
 * sources give directly, and the listeners that follow (Cilium 1.21, pkg/ipcache). It knows nothing of maps or bytes.
 */
import type { CachingAllocator } from '../identity/caching-allocator.ts';
import type { Labels } from '../identity/labels.ts';
import type { NumericIdentity } from '../identity/numeric-identity.ts';
import type { IdentityOptions } from '../identity/options.ts';
import type { Prefix } from '../net/prefix.ts';
import { prefixOf, prefixTextOf } from './cache-key.ts';
import type { EntryChange } from './entry-change.ts';
import type { DeleteOutcome, DeleteRequest, DirectValue, EntryStore, UpsertOutcome } from './entry-store.ts';
import { InjectionLoop, type Scheduler } from './injection-loop.ts';
import { InjectionQueue } from './injection-queue.ts';
import { type InjectionResult, Injector } from './injector.ts';
import { LayeredEntries } from './layered-entries.ts';
import type { CacheEntry, IpcacheEvent, IpcacheListener } from './listener.ts';
import { Metadata, type MetadataRemoval, type MetadataUpdate } from './metadata.ts';
import { NamedPortTable } from './named-ports.ts';
import { NumberMeanings } from './number-meanings.ts';
import type { PackedKey } from './packed-key.ts';
import { PrefixLengths } from './prefix-lengths.ts';
import type { PrefixState } from './prefix-state.ts';
import type { CacheProblem } from './problem.ts';
import type { InfoKind } from './resource-info.ts';
import { UpstreamEntries } from './upstream-entries.ts';

export interface IpcacheSetup {
  readonly allocator: CachingAllocator;
  /** The allocator's options, unless given. */
  readonly options?: IdentityOptions;
  /** Whether a prefix gets its identity elsewhere, such as the address of a local pod: its metadata is not resolved. */
  readonly isClaimed?: (key: string) => boolean;
  /** Metadata waits unresolved until `setReady`. */
  readonly startsReady?: boolean;
  /** New identities, and the host's whenever its labels may have changed; before any entry has them. */
  readonly onIdentitiesAdded?: (added: ReadonlyMap<NumericIdentity, Labels>) => void;
  readonly onProblem?: (problem: CacheProblem) => void;
  /** Whole seconds since some moment; without it the cache does not know since when an entry is what it is. */
  readonly seconds?: () => number;
  /** Entries as Cilium 1.21 keeps them, defects included; to compare with it only. */
  readonly strictUpstream?: boolean;
}

export interface DirectOptions {
  /** Tells apart sources of one rank; a delete must name the same. */
  readonly owner?: string;
}

export class Ipcache {
  readonly metadata: Metadata;
  readonly entries: EntryStore;
  readonly lengths = new PrefixLengths();
  readonly #queue = new InjectionQueue();
  readonly #injector: Injector;
  readonly #loop: InjectionLoop;
  readonly #namedPorts = new NamedPortTable();
  readonly #onProblem: (problem: CacheProblem) => void;
  #listeners: readonly IpcacheListener[] = [];
  #isReady: boolean;
  #needsNamedPorts = false;

  constructor(setup: IpcacheSetup) {
    const onProblem = setup.onProblem ?? (() => {});
    this.#onProblem = onProblem;
    this.#isReady = setup.startsReady ?? true;
    this.metadata = new Metadata((prefix, conflict) => onProblem({ kind: 'conflict', prefix, conflict }));
    const store = { lengths: this.lengths, namedPorts: this.#namedPorts, seconds: setup.seconds };
    this.entries = setup.strictUpstream
      ? new UpstreamEntries({ ...store, publish: (event) => this.#publish(event) })
      : new LayeredEntries({ ...store, publish: (change) => this.#publishChange(change) });
    this.#injector = new Injector({
      metadata: this.metadata,
      entries: this.entries,
      allocator: setup.allocator,
      options: setup.options ?? setup.allocator.options,
      isClaimed: setup.isClaimed,
      meanings: setup.strictUpstream ? undefined : new NumberMeanings(setup.allocator),
      onIdentitiesAdded: setup.onIdentitiesAdded,
      onProblem,
    });
    this.#loop = new InjectionLoop({ queue: this.#queue, injector: this.#injector, isReady: () => this.#isReady });
  }

  /** The labels of identity 1: those of every prefix of this host. */
  get hostLabels(): Labels {
    return this.#injector.hostLabels.labels;
  }

  /** Prefixes that wait to be resolved, in the order in which they were queued. */
  get queued(): string[] {
    return this.#queue.keys();
  }

  /** Prefixes whose metadata is not resolved yet, those that are just being resolved among them. */
  get queueLength(): number {
    return this.#queue.unfinished;
  }

  /** The listener first hears of everything that is seen now, as upserts of new prefixes. */
  addListener(listener: IpcacheListener): void {
    this.replay(listener);
    this.follow(listener);
  }

  /** The listener hears of what changes from now on. */
  follow(listener: IpcacheListener): void {
    this.#listeners = [...this.#listeners, listener];
  }

  removeListener(listener: IpcacheListener): void {
    this.#listeners = this.#listeners.filter((present) => present !== listener);
  }

  /** Tells a listener every entry that nothing shadows. */
  replay(listener: IpcacheListener): void {
    for (const [key, entry] of this.entries.entries()) {
      if (this.entries.isShadowed(key)) continue;
      listener.onIpcacheEvent({ kind: 'upsert', prefix: prefixTextOf(key), entry, old: undefined });
    }
  }

  /**
   * Sets what a source knows about one key. What a stronger source says stays in sight and this value waits behind it.
   * @param key from `parseCacheKey`: a bare address is an endpoint
   */
  upsert(key: string, value: DirectValue, { owner = '' }: DirectOptions = {}): UpsertOutcome {
    return this.#seen(this.entries.upsert(key, value, owner));
  }

  /** As `upsert`, for whoever has very many: key and value may be filled anew after the call. */
  upsertPacked(key: PackedKey, value: DirectValue, { owner = '' }: DirectOptions = {}): UpsertOutcome {
    return this.#seen(this.entries.upsertPacked(key, value, owner));
  }

  /** Takes back what the same source (and owner) said; the next weaker value comes into sight. */
  delete(key: string, request: DeleteRequest): DeleteOutcome {
    const outcome = this.entries.delete(key, request);
    if (outcome.kind === 'unknown') this.#onProblem({ kind: 'unknown-key', key });
    return this.#seen(outcome);
  }

  /** @returns a revision for `waitForRevision` */
  upsertMetadata(updates: Iterable<MetadataUpdate>): number {
    for (const update of updates) this.metadata.upsert(update, this.#enqueue);
    return this.#queuedRevision();
  }

  /** @returns a revision for `waitForRevision` */
  removeMetadata(removals: Iterable<MetadataRemoval>): number {
    for (const removal of removals) this.metadata.remove(removal, this.#enqueue);
    return this.#queuedRevision();
  }

  /** Gives a prefix exactly these labels, whatever else is known about it. @returns a revision */
  overrideIdentity(update: Omit<MetadataUpdate, 'info'> & { readonly labels: Labels }): number {
    return this.upsertMetadata([{ ...update, info: { labels: update.labels, identityOverride: true } }]);
  }

  /** @returns a revision */
  removeIdentityOverride(prefix: Prefix, resource: string): number {
    const what: InfoKind[] = ['labels', 'identityOverride'];
    return this.removeMetadata([{ prefix, resource, what }]);
  }

  /**
   * Takes everything that one resource gave away from each prefix whose labels include the given ones next to each other,
   * but for the excluded prefixes.
   * @returns a revision
   */
  removeLabelsExcluded(labels: Labels, isExcluded: (key: string) => boolean, resource: string): number {
    const wanted = labels.sortedList;
    const matching = [...this.metadata.states()].filter(
      ({ key, flattened }) => flattened?.labels?.sortedList.includes(wanted) && !isExcluded(key),
    );
    return this.removeMetadata(matching.map(({ key }) => ({ prefix: prefixOf(key), resource, what: ['labels'] })));
  }

  /** Settles when everything that was queued under the revision is applied. */
  waitForRevision(revision: number): Promise<void> {
    return this.#queue.waitFor(revision);
  }

  /** Lets metadata be resolved, for example once every source has synced. */
  setReady(): void {
    this.#isReady = true;
    this.#loop.wake();
  }

  /** From now on metadata is resolved in the background, in short slices. */
  start(scheduler: Scheduler): void {
    this.#loop.start(scheduler);
  }

  stop(): void {
    this.#loop.stop();
  }

  /**
   * Resolves everything that is queued before it returns, in the order of the keys. Not while `start` is in effect.
   * @returns undefined when metadata is not to be resolved yet
   */
  injectNow(): InjectionResult | undefined {
    return this.#isReady ? this.#loop.runNow() : undefined;
  }

  /** How many port names pods define; from the first call on, outcomes tell when their meaning changes. */
  countNamedPorts(): number {
    this.#needsNamedPorts = true;
    return this.#namedPorts.size;
  }

  /** What listeners were told last about a key that is not shadowed. */
  get(key: string): CacheEntry | undefined {
    return this.entries.get(key);
  }

  readonly #enqueue = (state: PrefixState): void => this.#queue.add(state);

  #queuedRevision(): number {
    this.#loop.wake();
    return this.#queue.revision;
  }

  #publish(event: IpcacheEvent): void {
    for (const listener of this.#listeners) listener.onIpcacheEvent(event);
  }

  #publishChange(change: EntryChange): void {
    for (const listener of this.#listeners) {
      if (listener.onEntryChange === undefined) listener.onIpcacheEvent(change.event());
      else listener.onEntryChange(change);
    }
  }

  #seen<T extends UpsertOutcome | DeleteOutcome>(outcome: T): T {
    if (this.#needsNamedPorts || !('namedPortsChanged' in outcome) || !outcome.namedPortsChanged) return outcome;
    return { ...outcome, namedPortsChanged: false };
  }
}
