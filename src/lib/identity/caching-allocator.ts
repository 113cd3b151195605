/**
 * The agent's allocator for everything that has no global number: reserved identities, the local scope and the
 * remote-node scope (Cilium 1.21, pkg/identity/cache/allocator.go).
 */
import { RefusedError, ToolError } from '../errors.ts';
import { reservedLabel } from './label.ts';
import { scopeForLabels } from './label-scope.ts';
import { Labels } from './labels.ts';
import { type Identity, LocalAllocator, type LocalAllocatorOptions } from './local-allocator.ts';
import {
  MAX_LOCAL_INDEX,
  MIN_LOCAL_INDEX,
  type NumericIdentity,
  numericIdentity,
  SCOPE_GLOBAL,
  SCOPE_LOCAL,
  SCOPE_REMOTE_NODE,
  scopeBits,
} from './numeric-identity.ts';
import { DEFAULT_IDENTITY_OPTIONS, type IdentityOptions } from './options.ts';
import { IDENTITY_UNKNOWN } from './reserved.ts';
import { ReservedIdentities } from './reserved-identities.ts';

/** What policy must learn: never the same number in both. */
export interface SelectorUpdate {
  readonly added: ReadonlyMap<NumericIdentity, Labels>;
  readonly deleted: readonly NumericIdentity[];
}

/** An identity as a checkpoint holds it: number and labels, no references. */
export interface IdentityRecord {
  readonly id: NumericIdentity;
  readonly labels: Labels;
}

export interface CachingAllocatorOptions {
  readonly options?: IdentityOptions;
  readonly reserved?: ReservedIdentities;
  readonly onSelectorUpdate?: (update: SelectorUpdate) => void;
  /** A sentence for the log, with the number it is about. */
  readonly onWarning?: (message: string, id: NumericIdentity) => void;
  /** For comparing with upstream: of two checkpoint records with equal labels one reference is never released. */
  readonly strictUpstream?: boolean;
}

const UNKNOWN_LABELS = Labels.of([reservedLabel('unknown')]);

const RANGE = { min: MIN_LOCAL_INDEX, max: MAX_LOCAL_INDEX };

export class CachingAllocator {
  readonly options: IdentityOptions;
  readonly reserved: ReservedIdentities;
  readonly local: LocalAllocator;
  readonly remoteNode: LocalAllocator;
  readonly #onSelectorUpdate: ((update: SelectorUpdate) => void) | undefined;
  readonly #onWarning: ((message: string, id: NumericIdentity) => void) | undefined;
  readonly #strictUpstream: boolean;
  /** Restored number → references that restoring took. */
  readonly #restored = new Map<NumericIdentity, number>();

  constructor(setup: CachingAllocatorOptions = {}) {
    this.options = setup.options ?? DEFAULT_IDENTITY_OPTIONS;
    this.reserved = setup.reserved ?? new ReservedIdentities(this.options);
    this.#onSelectorUpdate = setup.onSelectorUpdate;
    this.#onWarning = setup.onWarning;
    this.#strictUpstream = setup.strictUpstream ?? false;
    const shared: Omit<LocalAllocatorOptions, 'scope'> = {
      ...RANGE,
      onDesperate: (id) => this.#warn(id, 'no local number is free, a withheld one was taken: policy may drop briefly'),
    };
    this.local = new LocalAllocator({ ...shared, scope: SCOPE_LOCAL });
    this.remoteNode = new LocalAllocator({ ...shared, scope: SCOPE_REMOTE_NODE });
  }

  /** Every allocated identity of both scopes, in no particular order. */
  *identities(): IterableIterator<Identity> {
    yield* this.local.identities();
    yield* this.remoteNode.identities();
  }

  get size(): number {
    return this.local.size + this.remoteNode.size;
  }

  /**
   * Takes a reference on the identity of the labels; a reserved one is handed out without.
   * @param requested the number wanted for a new identity; 0 for any
   * @throws {RefusedError} NON_LOCAL_LABELS when the labels need a global number, OUT_OF_IDENTITIES when none is left
   */
  allocateLocalIdentity(
    labels: Labels,
    { requested = 0, notify = false }: { readonly requested?: number; readonly notify?: boolean } = {},
  ): { readonly identity: Identity; readonly isNew: boolean } {
    const reserved = this.reserved.lookupByLabels(labels);
    if (reserved !== undefined) return { identity: reserved, isNew: false };
    const allocator = this.#allocatorOf(scopeForLabels(labels));
    if (allocator === undefined) {
      throw new RefusedError('Cannot allocate a local identity: labels would result in global identity', {
        code: 'NON_LOCAL_LABELS',
        operands: { labels: labels.sortedList },
      });
    }
    const result = allocator.lookupOrCreate(labels, requested);
    if (result.isNew && notify) this.#notify(new Map([[result.identity.id, result.identity.labels]]), []);
    return result;
  }

  /**
   * Drops one reference of each number. Reserved and unknown ones are passed over.
   * @returns the numbers that are gone, and those of other scopes, which nothing here can release; both in order
   */
  releaseLocalIdentities(ids: Iterable<NumericIdentity>): {
    readonly deallocated: NumericIdentity[];
    readonly nonLocal: NumericIdentity[];
  } {
    const deallocated: NumericIdentity[] = [];
    const nonLocal: NumericIdentity[] = [];
    for (const id of ids) {
      if (this.reserved.isReserved(id) || this.reserved.lookupById(id) !== undefined) continue;
      const allocator = this.#allocatorOf(scopeBits(id));
      if (allocator === undefined) nonLocal.push(id);
      else if (allocator.release(id)) deallocated.push(id);
    }
    if (deallocated.length > 0) this.#notify(new Map(), deallocated);
    return { deallocated, nonLocal };
  }

  /** Keeps numbers out of allocation except on request. @returns those of neither scope, which cannot be withheld */
  withhold(ids: Iterable<NumericIdentity>): NumericIdentity[] {
    return this.remoteNode.withhold(this.local.withhold(ids));
  }

  unwithhold(ids: Iterable<NumericIdentity>): void {
    const list = [...ids];
    this.local.unwithhold(list);
    this.remoteNode.unwithhold(list);
  }

  /** Takes no reference. @returns undefined when nothing has these labels */
  lookup(labels: Labels): Identity | undefined {
    return this.reserved.lookupByLabels(labels) ?? this.#allocatorOf(scopeForLabels(labels))?.lookup(labels);
  }

  /** Takes no reference. 0 is `reserved:unknown`. @returns undefined for global numbers and free ones */
  lookupById(id: number): Identity | undefined {
    if (id === IDENTITY_UNKNOWN) return { id: numericIdentity(id), labels: UNKNOWN_LABELS, refCount: 0 };
    return this.reserved.lookupById(id) ?? this.#allocatorOf(scopeBits(id))?.lookupById(id);
  }

  /**
   * Allocates what a checkpoint has, each under its old number where that is free, and holds one reference per record.
   * All numbers of the checkpoint are withheld meanwhile. Records whose labels now belong to another scope, or to a
   * global number, are passed over with a warning.
   * @returns number → identity; undefined when there are no records
   */
  restoreLocalIdentities(
    records: readonly IdentityRecord[] | undefined,
  ): ReadonlyMap<NumericIdentity, Identity> | undefined {
    if (records === undefined || records.length === 0) return undefined;
    const restored = new Map<NumericIdentity, Identity>();
    this.withhold(records.map(({ id }) => id));
    for (const record of records) {
      const identity = this.#restoreOne(record);
      if (identity !== undefined) restored.set(identity.id, identity);
    }
    if (restored.size > 0) this.#notify(new Map([...restored].map(([id, { labels }]) => [id, labels])), []);
    this.unwithhold(records.map(({ id }) => id));
    return restored;
  }

  /** Drops the references that restoring took. Calling it again does nothing. @returns the numbers that are gone */
  releaseRestoredIdentities(): NumericIdentity[] {
    const deleted: NumericIdentity[] = [];
    for (const [id, references] of this.#restored) {
      for (let i = 0; i < references; i++) if (this.#allocatorOf(scopeBits(id))?.release(id)) deleted.push(id);
    }
    this.#restored.clear();
    if (deleted.length > 0) this.#notify(new Map(), deleted);
    return deleted;
  }

  #restoreOne({ id, labels }: IdentityRecord): Identity | undefined {
    const scope = scopeForLabels(labels);
    if (scope !== scopeBits(id) || scope === SCOPE_GLOBAL) {
      this.#warn(id, 'not restored: its labels do not belong to the scope of its number');
      return undefined;
    }
    try {
      const { identity } = this.#restoreAllocator(labels, scope, id);
      const references = this.#strictUpstream ? 1 : (this.#restored.get(identity.id) ?? 0) + 1;
      this.#restored.set(identity.id, references);
      if (identity.id !== id) this.#warn(id, `restored as ${identity.id}: its number was taken`);
      return identity;
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      this.#warn(id, `not restored: ${error.message}`);
      return undefined;
    }
  }

  #restoreAllocator(labels: Labels, scope: number, id: NumericIdentity) {
    return scope === SCOPE_REMOTE_NODE
      ? this.remoteNode.lookupOrCreate(labels, id)
      : this.local.lookupOrCreate(labels, id);
  }

  #allocatorOf(scope: number): LocalAllocator | undefined {
    if (scope === SCOPE_LOCAL) return this.local;
    return scope === SCOPE_REMOTE_NODE ? this.remoteNode : undefined;
  }

  #notify(added: ReadonlyMap<NumericIdentity, Labels>, deleted: readonly NumericIdentity[]): void {
    this.#onSelectorUpdate?.({ added, deleted });
  }

  #warn(id: NumericIdentity, message: string): void {
    this.#onWarning?.(message, numericIdentity(id));
  }
}
