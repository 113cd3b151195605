/**
 * Where the entries of the cache live: numbers side by side instead of an object and a text for each of half a million
 * keys, so that a change touches two lines of memory and the garbage collector has nothing to look at. A key has one place
 * for as long as it is there; weaker values of the same key wait in places of their own.
 */
import type { DirectValue } from './entry-store.ts';
import type { PodMetadata } from './listener.ts';
import type { Owner, Owners } from './owners.ts';
import { PackedKey } from './packed-key.ts';
import { samePod } from './same-entry.ts';

/** No place. */
export const NOWHERE = -1;

const FIRST_PLACES = 1024;
/** Words of a place. */
const WORDS = 7;
const W0 = 0;
const META = 1;
const IDENTITY = 2;
/** Encrypt key and, above it, the endpoint flags. */
const BITS = 3;
const OWNER = 4;
/** The place of the next weaker value, or of the next free one. */
const NEXT = 5;
/** In the place of a key: when its value became what it is, whichever value that is. */
const SINCE = 6;
/** In the place of META: a weaker value, or nothing. */
const NO_KEY = -1;

export class EntryTable {
  #words = new Int32Array(FIRST_PLACES * WORDS);
  /** The rest of IPv6 addresses, three words a place; made when the first one comes. */
  #wide: Int32Array | undefined;
  readonly #hosts: (string | undefined)[] = [];
  readonly #pods: (PodMetadata | undefined)[] = [];
  readonly #owners: Owners;
  readonly #scratch = new PackedKey();
  /** Place plus one of the keys; 0 is free. At least twice as many as keys. */
  #slots = new Int32Array(FIRST_PLACES * 2);
  #used = 0;
  #free = NOWHERE;
  #size = 0;
  /** Iterations under way: what is new then comes behind them, where they will see it. */
  #readers = 0;

  constructor(owners: Owners) {
    this.#owners = owners;
  }

  /** How many keys there are. */
  get size(): number {
    return this.#size;
  }

  /** @returns the place of the key's strongest value, or NOWHERE */
  find(key: PackedKey): number {
    return (this.#slots[this.#slotOf(key)] as number) - 1;
  }

  /** Makes a place for a key that is not there; it has no value yet. */
  add(key: PackedKey): number {
    if ((this.#size + 1) * 2 > this.#slots.length) this.#rehash(this.#slots.length * 2);
    const place = this.#make();
    const at = place * WORDS;
    this.#words[at + W0] = key.w0;
    this.#words[at + META] = key.meta;
    this.#words[at + SINCE] = 0;
    if (key.isIPv6) this.#setWide(place, key);
    this.#slots[this.#slotOf(key)] = place + 1;
    this.#size++;
    return place;
  }

  /** Forgets a key that has no weaker value. */
  delete(key: PackedKey): void {
    const slot = this.#slotOf(key);
    const place = (this.#slots[slot] as number) - 1;
    this.#close(slot);
    this.#recycle(place);
    if (--this.#size === 0 && this.#readers === 0) this.#reset();
  }

  owner(place: number): Owner {
    return this.#owners.at(this.#words[place * WORDS + OWNER] as number);
  }

  /** @returns the place of the next weaker value, or NOWHERE */
  next(place: number): number {
    return this.#words[place * WORDS + NEXT] as number;
  }

  identity(place: number): number {
    return (this.#words[place * WORDS + IDENTITY] as number) >>> 0;
  }

  hostIP(place: number): string | undefined {
    return this.#hosts[place];
  }

  encryptKey(place: number): number {
    return (this.#words[place * WORDS + BITS] as number) & 0xff;
  }

  endpointFlags(place: number): number {
    return (this.#words[place * WORDS + BITS] as number) >>> 8;
  }

  /** Whole seconds of whatever clock; 0 until it is set. */
  since(place: number): number {
    return this.#words[place * WORDS + SINCE] as number;
  }

  setSince(place: number, seconds: number): void {
    this.#words[place * WORDS + SINCE] = seconds;
  }

  pod(place: number): PodMetadata | undefined {
    return this.#pods[place];
  }

  readKey(place: number, key: PackedKey): PackedKey {
    const at = place * WORDS;
    key.setIPv4(this.#words[at + W0] as number, 0);
    key.meta = this.#words[at + META] as number;
    if (key.isIPv6 && this.#wide !== undefined) {
      key.w1 = this.#wide[place * 3] as number;
      key.w2 = this.#wide[place * 3 + 1] as number;
      key.w3 = this.#wide[place * 3 + 2] as number;
    }
    return key;
  }

  has(place: number, { identity, hostIP, encryptKey = 0, endpointFlags = 0, pod }: DirectValue): boolean {
    const at = place * WORDS;
    return (
      this.#words[at + IDENTITY] === (identity | 0) &&
      this.#words[at + BITS] === ((endpointFlags << 8) | encryptKey) &&
      this.#hosts[place] === hostIP &&
      samePod(this.#pods[place], pod)
    );
  }

  set(place: number, { identity, hostIP, encryptKey = 0, endpointFlags = 0, pod }: DirectValue, owner: Owner): void {
    const at = place * WORDS;
    this.#words[at + IDENTITY] = identity;
    this.#words[at + BITS] = (endpointFlags << 8) | encryptKey;
    this.#words[at + OWNER] = owner.number;
    if (this.#hosts[place] !== hostIP) this.#hosts[place] = hostIP;
    if (!samePod(this.#pods[place], pod)) this.#pods[place] = pod;
  }

  /** Puts a value behind the one at the place. @returns where it is */
  insertBehind(place: number, value: DirectValue, owner: Owner): number {
    const behind = this.#makeBehind(place);
    this.set(behind, value, owner);
    return behind;
  }

  /** Puts a value before the one at the place, which is the place of its key and stays that. */
  insertBefore(place: number, value: DirectValue, owner: Owner): void {
    this.#move(place, this.#makeBehind(place));
    this.set(place, value, owner);
  }

  /** Takes away the value behind the one at the place. */
  removeBehind(place: number): void {
    const gone = this.next(place);
    this.#words[place * WORDS + NEXT] = this.next(gone);
    this.#recycle(gone);
  }

  /** Takes away the value at the place of its key; the next weaker one, which must exist, moves there. */
  removeHere(place: number): void {
    this.#move(this.next(place), place);
    this.removeBehind(place);
  }

  /** The places of all keys. A key that is there all the time is seen once, whatever else changes meanwhile. */
  *places(): IterableIterator<number> {
    this.#readers++;
    try {
      for (let place = 0; place < this.#used; place++) if (this.#isKey(place)) yield place;
    } finally {
      this.#readers--;
    }
  }

  #isKey(place: number): boolean {
    return this.#words[place * WORDS + META] !== NO_KEY;
  }

  #make(): number {
    let place = this.#free;
    if (place !== NOWHERE && this.#readers === 0) this.#free = this.next(place);
    else {
      if ((this.#used + 1) * WORDS > this.#words.length) this.#grow();
      place = this.#used++;
      this.#hosts.push(undefined);
      this.#pods.push(undefined);
    }
    this.#words[place * WORDS + NEXT] = NOWHERE;
    return place;
  }

  /** A place without a key, linked behind another one. */
  #makeBehind(place: number): number {
    const behind = this.#make();
    this.#words[behind * WORDS + META] = NO_KEY;
    this.#words[behind * WORDS + NEXT] = this.next(place);
    this.#words[place * WORDS + NEXT] = behind;
    return behind;
  }

  #recycle(place: number): void {
    this.#words[place * WORDS + META] = NO_KEY;
    this.#words[place * WORDS + NEXT] = this.#free;
    this.#hosts[place] = undefined;
    this.#pods[place] = undefined;
    this.#free = place;
  }

  /** Copies a value, without key and link. */
  #move(from: number, to: number): void {
    for (const word of [IDENTITY, BITS, OWNER]) {
      this.#words[to * WORDS + word] = this.#words[from * WORDS + word] as number;
    }
    this.#hosts[to] = this.#hosts[from];
    this.#pods[to] = this.#pods[from];
  }

  #setWide(place: number, { w1, w2, w3 }: PackedKey): void {
    this.#wide ??= new Int32Array((this.#words.length / WORDS) * 3);
    this.#wide[place * 3] = w1;
    this.#wide[place * 3 + 1] = w2;
    this.#wide[place * 3 + 2] = w3;
  }

  #grow(): void {
    const words = new Int32Array(this.#words.length * 2);
    words.set(this.#words);
    this.#words = words;
    if (this.#wide === undefined) return;
    const wide = new Int32Array(this.#wide.length * 2);
    wide.set(this.#wide);
    this.#wide = wide;
  }

  #reset(): void {
    this.#words = new Int32Array(FIRST_PLACES * WORDS);
    this.#wide = undefined;
    this.#hosts.length = 0;
    this.#pods.length = 0;
    this.#slots = new Int32Array(FIRST_PLACES * 2);
    this.#used = 0;
    this.#free = NOWHERE;
  }

  /** Where the key is, or the free slot where it belongs. */
  #slotOf(key: PackedKey): number {
    const mask = this.#slots.length - 1;
    for (let slot = key.home() & mask; ; slot = (slot + 1) & mask) {
      const place = (this.#slots[slot] as number) - 1;
      if (place < 0 || this.#isAt(place, key)) return slot;
    }
  }

  #isAt(place: number, key: PackedKey): boolean {
    const at = place * WORDS;
    if (this.#words[at + W0] !== key.w0 || this.#words[at + META] !== key.meta) return false;
    if (!key.isIPv6 || this.#wide === undefined) return true;
    const rest = place * 3;
    return this.#wide[rest] === key.w1 && this.#wide[rest + 1] === key.w2 && this.#wide[rest + 2] === key.w3;
  }

  /** Frees a slot and moves up those behind it that could not have the slot they belong to. */
  #close(slot: number): void {
    const mask = this.#slots.length - 1;
    let gap = slot;
    for (let at = (gap + 1) & mask; this.#slots[at] !== 0; at = (at + 1) & mask) {
      const home = this.readKey((this.#slots[at] as number) - 1, this.#scratch).home() & mask;
      if (((at - home) & mask) < ((at - gap) & mask)) continue;
      this.#slots[gap] = this.#slots[at] as number;
      gap = at;
    }
    this.#slots[gap] = 0;
  }

  #rehash(slots: number): void {
    this.#slots = new Int32Array(slots);
    for (let place = 0; place < this.#used; place++) {
      if (this.#isKey(place)) this.#slots[this.#slotOf(this.readKey(place, this.#scratch))] = place + 1;
    }
  }
}
