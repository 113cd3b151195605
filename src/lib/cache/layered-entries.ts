/**
 * The entries of the cache with every owner's value kept: a delete shows the next weaker value, whichever API it came
 * through, and what the listeners were told is always exactly what is seen.
 */
import { EntryChange, EntryView } from './entry-change.ts';
import type {
  Batch,
  DeleteOutcome,
  DeleteRequest,
  DirectValue,
  EntryStore,
  EntryStoreSetup,
  UpsertOutcome,
} from './entry-store.ts';
import { EntryTable, NOWHERE } from './entry-table.ts';
import { LayeredBatch } from './layered-batch.ts';
import type { CacheEntry } from './listener.ts';
import { isSameOwner, METADATA_OWNER, type Owner, Owners } from './owners.ts';
import { PackedKey } from './packed-key.ts';
import { sameEntry, sameInMap } from './same-entry.ts';

const APPLIED: UpsertOutcome = { kind: 'applied', namedPortsChanged: false };
const APPLIED_WITH_PORTS: UpsertOutcome = { kind: 'applied', namedPortsChanged: true };
const UNCHANGED: UpsertOutcome = { kind: 'unchanged', namedPortsChanged: false };

export class LayeredEntries implements EntryStore {
  readonly #owners = new Owners();
  readonly #table = new EntryTable(this.#owners);
  readonly #setup: EntryStoreSetup<EntryChange>;
  /** Filled anew for every call: half a million events in a row make no garbage. */
  readonly #key = new PackedKey();
  readonly #other = new PackedKey();
  readonly #change = new EntryChange();
  readonly #before = this.#change.old;
  /** How many keys of each kind there are, so that most changes need not look for a shadow. */
  #endpoints = 0;
  #hostPrefixes = 0;

  constructor(setup: EntryStoreSetup<EntryChange>) {
    this.#setup = setup;
  }

  get size(): number {
    return this.#table.size;
  }

  get(key: string): CacheEntry | undefined {
    const place = this.#find(key);
    return place === NOWHERE ? undefined : this.#fill(new EntryView(), place).copy();
  }

  sinceOf(key: string): number | undefined {
    const place = this.#setup.seconds === undefined ? NOWHERE : this.#find(key);
    return place === NOWHERE ? undefined : this.#table.since(place);
  }

  isShadowed(key: string): boolean {
    return this.#endpoints > 0 && this.#key.tryRead(key) && this.#isShadowed(this.#key);
  }

  *entries(): IterableIterator<readonly [string, CacheEntry]> {
    for (const { key, entry } of this.views()) yield [key.text(), entry.copy()];
  }

  *views(): IterableIterator<{ readonly key: PackedKey; readonly entry: EntryView }> {
    const view = { key: new PackedKey(), entry: new EntryView() };
    for (const place of this.#table.places()) {
      this.#table.readKey(place, view.key);
      this.#fill(view.entry, place);
      yield view;
    }
  }

  upsert(key: string, value: DirectValue, owner: string): UpsertOutcome {
    return this.upsertPacked(this.#key.read(key), value, owner);
  }

  upsertPacked(key: PackedKey, value: DirectValue, owner: string): UpsertOutcome {
    const place = this.#table.find(key);
    const who = this.#owners.get(owner, value.source);
    const present = this.#layerOf(place, who);
    if (present !== NOWHERE && this.#table.has(present, value)) return this.#outcome(place, who, UNCHANGED);
    const portsChanged = this.#put(key, place, value, who);
    return this.#outcome(place, who, portsChanged ? APPLIED_WITH_PORTS : APPLIED);
  }

  delete(text: string, request: DeleteRequest): DeleteOutcome {
    const place = this.#find(text);
    if (place === NOWHERE) return { kind: 'unknown' };
    const who = this.#owners.get(request.owner ?? '', request.source);
    const layer = this.#layerOf(place, who);
    if (layer === NOWHERE) return { kind: 'not-owner' };
    const { expectIdentity, pod } = request;
    if (expectIdentity !== undefined && this.#table.identity(layer) !== expectIdentity) return { kind: 'stale' };
    const known = this.#table.pod(layer);
    if (pod !== undefined && (known?.namespace !== pod.namespace || known.name !== pod.name)) return { kind: 'stale' };
    return { kind: 'deleted', namedPortsChanged: this.#remove(this.#key, place, who) };
  }

  batch(): Batch {
    return new LayeredBatch(this);
  }

  /** Sets what the metadata says about a prefix. */
  putMetadata(text: string, value: DirectValue): void {
    const key = this.#key.read(text);
    const place = this.#table.find(key);
    const who = this.#owners.metadata(value.source);
    const present = this.#layerOf(place, who);
    if (present === NOWHERE || this.#table.owner(present) !== who || !this.#table.has(present, value)) {
      this.#put(key, place, value, who);
    }
  }

  /** Takes away what the metadata said about a prefix. */
  removeMetadata(text: string): void {
    const place = this.#find(text);
    const who = this.#owners.metadata('');
    if (this.#layerOf(place, who) !== NOWHERE) this.#remove(this.#key, place, who);
  }

  /** Reads the text into the key at hand. @returns NOWHERE also for text that is no key */
  #find(text: string): number {
    return this.#key.tryRead(text) ? this.#table.find(this.#key) : NOWHERE;
  }

  /** @returns whether port names changed their meaning */
  #put(key: PackedKey, place: number, value: DirectValue, owner: Owner): boolean {
    const before = place === NOWHERE ? undefined : this.#fill(this.#before, place);
    if (place === NOWHERE) {
      const made = this.#table.add(key);
      this.#table.set(made, value, owner);
      this.#count(key, 1);
      return this.#changed(key, before, made);
    }
    if (this.#table.next(place) === NOWHERE && isSameOwner(this.#table.owner(place), owner)) {
      this.#table.set(place, value, owner);
    } else {
      if (this.#layerOf(place, owner) !== NOWHERE) this.#removeLayer(place, owner);
      this.#insertLayer(place, value, owner);
    }
    return this.#changed(key, before, place);
  }

  /** @param owner one that has a value there. @returns as `put` */
  #remove(key: PackedKey, place: number, owner: Owner): boolean {
    const before = this.#fill(this.#before, place);
    if (this.#table.next(place) === NOWHERE) {
      this.#table.delete(key);
      this.#count(key, -1);
      return this.#changed(key, before, NOWHERE);
    }
    this.#removeLayer(place, owner);
    return this.#changed(key, before, place);
  }

  /** The place of an owner's value among those of one key. */
  #layerOf(place: number, owner: Owner): number {
    let layer = place;
    while (layer !== NOWHERE && !isSameOwner(this.#table.owner(layer), owner)) layer = this.#table.next(layer);
    return layer;
  }

  /** Of several values of one key. */
  #removeLayer(place: number, owner: Owner): void {
    const table = this.#table;
    if (isSameOwner(table.owner(place), owner)) {
      table.removeHere(place);
      return;
    }
    let before = place;
    while (!isSameOwner(table.owner(table.next(before)), owner)) before = table.next(before);
    table.removeBehind(before);
  }

  /** Puts a value before those that are not stronger: of equals the latest is seen. */
  #insertLayer(place: number, value: DirectValue, owner: Owner): void {
    const table = this.#table;
    const isStronger = (layer: number): boolean => layer !== NOWHERE && table.owner(layer).rank < owner.rank;
    if (!isStronger(place)) {
      table.insertBefore(place, value, owner);
      return;
    }
    let before = place;
    while (isStronger(table.next(before))) before = table.next(before);
    table.insertBehind(before, value, owner);
  }

  #count(key: PackedKey, by: 1 | -1): void {
    this.#setup.lengths.change(key.isIPv6 ? 'ipv6' : 'ipv4', key.length, by);
    if (key.isEndpoint) this.#endpoints += by;
    else if (key.isHostPrefix) this.#hostPrefixes += by;
  }

  /** What is seen of a key: a pod that a direct owner gave is seen through the metadata. */
  #fill(view: EntryView, place: number): EntryView {
    const table = this.#table;
    const owner = table.owner(place);
    view.identity = table.identity(place);
    view.source = owner.source;
    view.hostIP = table.hostIP(place);
    view.encryptKey = table.encryptKey(place);
    view.endpointFlags = table.endpointFlags(place);
    const from = owner.name === METADATA_OWNER ? table.next(place) : place;
    view.pod = from === NOWHERE ? undefined : table.pod(from);
    return view;
  }

  #isShadowed(prefix: PackedKey): boolean {
    if (this.#endpoints === 0 || !prefix.isHostPrefix) return false;
    return this.#table.find(this.#other.copy(prefix).toEndpoint()) !== NOWHERE;
  }

  /**
   * @param place where the key is now, or NOWHERE
   * @returns whether port names changed their meaning
   */
  #changed(key: PackedKey, before: EntryView | undefined, place: number): boolean {
    const change = this.#change;
    change.begin();
    change.key.copy(key).toPrefix();
    const after = place === NOWHERE ? undefined : this.#fill(change.entry, place);
    if (after !== undefined) this.#stamp(place, before, after);
    // Listeners may ask the cache for other keys, but they do not change it.
    const portsChanged = this.#setup.namedPorts.move(before, after);
    if (!key.isEndpoint) {
      if (!this.#isShadowed(key)) this.#tell(before, after, sameEntry);
      return portsChanged;
    }
    if (before !== undefined && after !== undefined) {
      this.#tell(before, after, sameEntry);
      return portsChanged;
    }
    const beneath = this.#hostPrefixes === 0 ? NOWHERE : this.#table.find(change.key);
    const hidden =
      beneath === NOWHERE ? undefined : this.#fill(after === undefined ? change.entry : this.#before, beneath);
    if (after === undefined && hidden !== undefined) this.#stamp(beneath, before, hidden);
    // Only who owns the entry differs where an endpoint takes over from an equal prefix: no news for anyone.
    this.#tell(before ?? hidden, after ?? hidden, sameInMap);
    return portsChanged;
  }

  #stamp(place: number, before: EntryView | undefined, after: EntryView): void {
    const { seconds } = this.#setup;
    if (seconds !== undefined && (before === undefined || !sameInMap(before, after))) {
      this.#table.setSince(place, seconds());
    }
  }

  /** Both are the change's own, or undefined. */
  #tell(
    old: EntryView | undefined,
    entry: EntryView | undefined,
    same: (a: CacheEntry, b: CacheEntry) => boolean,
  ): void {
    const change = this.#change;
    if (entry === undefined && old === undefined) return;
    if (entry !== undefined && old !== undefined && same(old, entry)) return;
    change.isDelete = entry === undefined;
    change.hasOld = entry !== undefined && old !== undefined;
    if (entry === undefined && old !== undefined) change.entry.assign(old);
    this.#setup.publish(change);
  }

  /** @param place where the key was, or NOWHERE for one that is new */
  #outcome(place: number, owner: Owner, seen: UpsertOutcome): UpsertOutcome {
    if (place === NOWHERE) return seen;
    const first = this.#table.owner(place);
    return isSameOwner(first, owner) ? seen : { kind: 'outranked', by: first.source };
  }
}
