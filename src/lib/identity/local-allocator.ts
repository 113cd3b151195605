/** Labels ↔ local numbers of one scope, with references (Cilium 1.21, pkg/identity/cache/local.go). */
import { RefusedError } from '../errors.ts';
import type { Labels } from './labels.ts';
import { type NumericIdentity, numericIdentity, scopeBits } from './numeric-identity.ts';

/** An identity and how many hold it. Numbers that are never allocated (reserved ones) have no references. */
export interface Identity {
  readonly id: NumericIdentity;
  readonly labels: Labels;
  readonly refCount: number;
}

export type AllocatorEvent =
  | { readonly kind: 'upsert'; readonly id: NumericIdentity; readonly labels: Labels }
  | { readonly kind: 'delete'; readonly id: NumericIdentity };

export interface LocalAllocatorOptions {
  /** Scope bits, for example `SCOPE_LOCAL`. */
  readonly scope: number;
  /** First and last index, without scope bits. */
  readonly min: number;
  readonly max: number;
  readonly onEvent?: (event: AllocatorEvent) => void;
  /** Called when a withheld number had to be taken because nothing else was left: drops are possible. */
  readonly onDesperate?: (id: NumericIdentity) => void;
}

interface Held {
  readonly id: NumericIdentity;
  readonly labels: Labels;
  refCount: number;
}

export class LocalAllocator {
  readonly scope: number;
  readonly #min: number;
  readonly #max: number;
  readonly #onEvent: ((event: AllocatorEvent) => void) | undefined;
  readonly #onDesperate: ((id: NumericIdentity) => void) | undefined;
  readonly #byId = new Map<number, Held>();
  readonly #byLabels = new Map<string, Held>();
  readonly #withheld = new Set<NumericIdentity>();
  #next: number;

  constructor(options: LocalAllocatorOptions) {
    this.scope = options.scope;
    this.#min = options.min;
    this.#max = options.max;
    this.#onEvent = options.onEvent;
    this.#onDesperate = options.onDesperate;
    this.#next = options.min;
  }

  /** The index that is tried next, without scope bits. */
  get next(): number {
    return this.#next;
  }

  get size(): number {
    return this.#byId.size;
  }

  get withheld(): ReadonlySet<NumericIdentity> {
    return this.#withheld;
  }

  /** Moves the counter, within its range: a restored state must not reuse the numbers freed last. */
  setNext(index: number): void {
    if (index >= this.#min && index <= this.#max) this.#next = index;
  }

  /** In no particular order. */
  identities(): IterableIterator<Identity> {
    return this.#byId.values();
  }

  /**
   * Takes a reference on the identity of the labels. New labels get `requested` when it has this scope and is free,
   * **even if it is withheld or outside the range**, else the next free number that is not withheld.
   * @throws {RefusedError} code OUT_OF_IDENTITIES when no number is left
   */
  lookupOrCreate(labels: Labels, requested: number = 0): { readonly identity: Identity; readonly isNew: boolean } {
    const known = this.#byLabels.get(labels.sortedList);
    if (known !== undefined) {
      known.refCount++;
      return { identity: known, isNew: false };
    }
    const identity: Held = { id: this.#choose(requested), labels: labels.compact(), refCount: 1 };
    this.#byLabels.set(labels.sortedList, identity);
    this.#byId.set(identity.id, identity);
    this.#onEvent?.({ kind: 'upsert', id: identity.id, labels: identity.labels });
    return { identity, isNew: true };
  }

  /** Drops one reference. @returns whether it was the last one and the identity is gone; false for unknown numbers */
  release(id: number): boolean {
    const identity = this.#byId.get(id);
    if (identity === undefined) return false;
    if (--identity.refCount > 0) return false;
    this.#byLabels.delete(identity.labels.sortedList);
    this.#byId.delete(id);
    this.#onEvent?.({ kind: 'delete', id: identity.id });
    return true;
  }

  /** Keeps numbers out of allocation, except on request. @returns those of other scopes, in order, duplicates kept */
  withhold(ids: Iterable<NumericIdentity>): NumericIdentity[] {
    const others: NumericIdentity[] = [];
    for (const id of ids) {
      if (scopeBits(id) === this.scope) this.#withheld.add(id);
      else others.push(id);
    }
    return others;
  }

  unwithhold(ids: Iterable<NumericIdentity>): void {
    for (const id of ids) this.#withheld.delete(id);
  }

  /** Takes no reference. */
  lookup(labels: Labels): Identity | undefined {
    return this.#byLabels.get(labels.sortedList);
  }

  /** Takes no reference. */
  lookupById(id: number): Identity | undefined {
    return this.#byId.get(id);
  }

  #choose(requested: number): NumericIdentity {
    if (scopeBits(requested) === this.scope && !this.#byId.has(requested)) return numericIdentity(requested);
    const first = this.#next;
    do {
      const id = numericIdentity((this.#next | this.scope) >>> 0);
      this.#next = this.#next === this.#max ? this.#min : this.#next + 1;
      if (!this.#byId.has(id) && !this.#withheld.has(id)) return id;
    } while (this.#next !== first);
    return this.#claimWithheld();
  }

  #claimWithheld(): NumericIdentity {
    for (const id of this.#withheld) {
      if (this.#byId.has(id)) continue;
      this.#withheld.delete(id);
      this.#onDesperate?.(id);
      return id;
    }
    throw new RefusedError('Cannot allocate an identity: out of local identity space', {
      code: 'OUT_OF_IDENTITIES',
      hint: 'release identities that are no longer used',
    });
  }
}
