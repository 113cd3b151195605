/**
 * The entries of the cache with every owner's value kept: a delete shows the next weaker value, whichever API it came
 * through, and what the listeners were told is always exactly what is seen.
 */
import { endpointKeyOf, isEndpointKey, prefixTextOf } from './cache-key.ts';
import type {
  Batch,
  DeleteOutcome,
  DeleteRequest,
  DirectValue,
  EntryStore,
  Publish,
  UpsertOutcome,
} from './entry-store.ts';
import { findLayer, insertLayer, Layer, type Owner, removeLayer, sameEntry, sameInMap } from './layer.ts';
import { LayeredBatch } from './layered-batch.ts';
import type { CacheEntry } from './listener.ts';
import type { NamedPortTable } from './named-ports.ts';
import { Owners } from './owners.ts';
import type { PrefixLengths } from './prefix-lengths.ts';

const APPLIED: UpsertOutcome = { kind: 'applied', namedPortsChanged: false };
const APPLIED_WITH_PORTS: UpsertOutcome = { kind: 'applied', namedPortsChanged: true };
const UNCHANGED: UpsertOutcome = { kind: 'unchanged', namedPortsChanged: false };

export interface EntryStoreSetup {
  readonly publish: Publish;
  readonly lengths: PrefixLengths;
  readonly namedPorts: NamedPortTable;
  /** Whole seconds since some moment. */
  readonly seconds?: (() => number) | undefined;
}

export class LayeredEntries implements EntryStore {
  readonly #heads = new Map<string, Layer>();
  readonly #owners = new Owners();
  readonly #setup: EntryStoreSetup;
  /** How many keys of each kind there are, so that most changes need not look for a shadow. */
  #endpoints = 0;
  #hostPrefixes = 0;

  constructor(setup: EntryStoreSetup) {
    this.#setup = setup;
  }

  get size(): number {
    return this.#heads.size;
  }

  get(key: string): CacheEntry | undefined {
    return this.#heads.get(key)?.snapshot();
  }

  sinceOf(key: string): number | undefined {
    return this.#setup.seconds && this.#heads.get(key)?.since;
  }

  isShadowed(key: string): boolean {
    if (this.#endpoints === 0 || isEndpointKey(key)) return false;
    const endpoint = endpointKeyOf(key);
    return endpoint !== undefined && this.#heads.has(endpoint);
  }

  *entries(): IterableIterator<readonly [string, CacheEntry]> {
    for (const [key, head] of this.#heads) yield [key, head.snapshot()];
  }

  upsert(key: string, value: DirectValue, owner: string): UpsertOutcome {
    const head = this.#heads.get(key);
    const who = this.#owners.get(owner, value.source);
    const present = findLayer(head, who);
    if (present?.has(value)) return outcome(head, present, UNCHANGED);
    const portsChanged = this.#put(key, head, present, value, who);
    const now = this.#heads.get(key);
    return outcome(now, findLayer(now, who), portsChanged ? APPLIED_WITH_PORTS : APPLIED);
  }

  delete(key: string, request: DeleteRequest): DeleteOutcome {
    const head = this.#heads.get(key);
    if (head === undefined) return { kind: 'unknown' };
    const layer = findLayer(head, this.#owners.get(request.owner ?? '', request.source));
    if (layer === undefined) return { kind: 'not-owner' };
    const { expectIdentity, pod } = request;
    if (expectIdentity !== undefined && layer.identity !== expectIdentity) return { kind: 'stale' };
    if (pod !== undefined && (layer.pod?.namespace !== pod.namespace || layer.pod.name !== pod.name)) {
      return { kind: 'stale' };
    }
    return { kind: 'deleted', namedPortsChanged: this.#remove(key, head, layer) };
  }

  batch(): Batch {
    return new LayeredBatch(this);
  }

  /** Sets what the metadata says about a prefix. */
  putMetadata(key: string, value: DirectValue): void {
    const head = this.#heads.get(key);
    const who = this.#owners.metadata(value.source);
    const present = findLayer(head, who);
    if (present?.owner !== who || !present.has(value)) this.#put(key, head, present, value, who);
  }

  /** Takes away what the metadata said about a prefix. */
  removeMetadata(key: string): void {
    const head = this.#heads.get(key);
    const layer = findLayer(head, this.#owners.metadata(''));
    if (head !== undefined && layer !== undefined) this.#remove(key, head, layer);
  }

  /** @returns whether port names changed their meaning */
  #put(key: string, head: Layer | undefined, present: Layer | undefined, value: DirectValue, owner: Owner): boolean {
    const before = head?.snapshot();
    if (present !== undefined && head === present && head.next === undefined && present.owner === owner) {
      head.assign(value);
      return this.#changed(key, before, head);
    }
    const rest = head !== undefined && present !== undefined ? removeLayer(head, present) : head;
    const since = head?.since ?? 0;
    const after = insertLayer(rest, new Layer(value, owner));
    after.since = since;
    if (after !== head) this.#heads.set(key, after);
    if (head === undefined) this.#count(key, 1);
    return this.#changed(key, before, after);
  }

  #remove(key: string, head: Layer, layer: Layer): boolean {
    const before = head.snapshot();
    const after = removeLayer(head, layer);
    if (after === undefined) {
      this.#heads.delete(key);
      this.#count(key, -1);
    } else {
      after.since = head.since;
      this.#heads.set(key, after);
    }
    return this.#changed(key, before, after);
  }

  #count(key: string, by: 1 | -1): void {
    if (by > 0) this.#setup.lengths.add(key);
    else this.#setup.lengths.remove(key);
    if (isEndpointKey(key)) this.#endpoints += by;
    else if (endpointKeyOf(key) !== undefined) this.#hostPrefixes += by;
  }

  #changed(key: string, before: CacheEntry | undefined, head: Layer | undefined): boolean {
    const after = head?.snapshot();
    if (head !== undefined && after !== undefined) this.#stamp(head, before, after);
    if (!isEndpointKey(key)) {
      if (!this.isShadowed(key)) this.#tell(key, before, after, sameEntry);
    } else if (before !== undefined && after !== undefined) this.#tell(prefixTextOf(key), before, after, sameEntry);
    else {
      const prefix = prefixTextOf(key);
      const beneath = this.#hostPrefixes === 0 ? undefined : this.#heads.get(prefix);
      const hidden = beneath?.snapshot();
      if (after === undefined && beneath !== undefined && hidden !== undefined) this.#stamp(beneath, before, hidden);
      // Only who owns the entry differs where an endpoint takes over from an equal prefix: no news for anyone.
      this.#tell(prefix, before ?? hidden, after ?? hidden, sameInMap);
    }
    return this.#updatePorts(before, after);
  }

  #stamp(head: Layer, before: CacheEntry | undefined, after: CacheEntry): void {
    const { seconds } = this.#setup;
    if (seconds !== undefined && (before === undefined || !sameInMap(before, after))) head.since = seconds();
  }

  #tell(
    prefix: string,
    old: CacheEntry | undefined,
    entry: CacheEntry | undefined,
    same: (a: CacheEntry, b: CacheEntry) => boolean,
  ): void {
    if (entry === undefined) {
      if (old !== undefined) this.#setup.publish({ kind: 'delete', prefix, entry: old });
    } else if (old === undefined || !same(old, entry)) this.#setup.publish({ kind: 'upsert', prefix, entry, old });
  }

  #updatePorts(before: CacheEntry | undefined, after: CacheEntry | undefined): boolean {
    const ports = { before: before?.pod?.namedPorts, after: after?.pod?.namedPorts };
    if (ports.before === undefined && ports.after === undefined) return false;
    if (before?.identity === after?.identity && after !== undefined) {
      return this.#setup.namedPorts.update(after.identity, ports.before, ports.after);
    }
    const left = before !== undefined && this.#setup.namedPorts.update(before.identity, ports.before, undefined);
    const came = after !== undefined && this.#setup.namedPorts.update(after.identity, undefined, ports.after);
    return left || came;
  }
}

function outcome(head: Layer | undefined, layer: Layer | undefined, seen: UpsertOutcome): UpsertOutcome {
  return head === undefined || head === layer ? seen : { kind: 'outranked', by: head.source };
}
