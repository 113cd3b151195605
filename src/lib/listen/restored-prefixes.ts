/**
 * The placeholders of a restore, held until their release: half a million of them are a few columns beside their texts,
 * which the cache has anyway.
 */
import type { Placeholder } from '../state/checkpoint.ts';

/** A number of which no labels are known was asked for as such. */
const REQUESTED = 1;
/** The number is this prefix's alone, so that its labels can be guessed once somebody speaks of it. */
const GUESSED = 2;
/** The map has the number and nothing else for the prefix. */
const IN_MAP = 4;

const FIRST_ROWS = 1024;

export interface RestoredPrefix {
  readonly prefix: string;
  readonly identity: number;
  readonly isRequested: boolean;
  readonly isGuessed: boolean;
  readonly isInMap: boolean;
}

export class RestoredPrefixes implements Iterable<Placeholder> {
  readonly #prefixes: string[] = [];
  readonly #times: string[];
  #identities: Uint32Array;
  #flags: Uint8Array;
  /** Indexes of `#times`. */
  #since: Uint32Array;
  /** Open addressing by the text: row + 1, 0 for none. Made by `complete`, or when it is first needed. */
  #slots: Uint32Array | undefined;
  /** The row after the one that was found last. */
  #next = 0;

  /**
   * @param time of every placeholder, unless `keepTime` says otherwise: RFC 3339
   * @param capacity how many there will be, about
   */
  constructor(time: string, capacity = FIRST_ROWS) {
    const rows = Math.max(FIRST_ROWS, capacity);
    this.#times = [time];
    this.#identities = new Uint32Array(rows);
    this.#flags = new Uint8Array(rows);
    this.#since = new Uint32Array(rows);
  }

  get length(): number {
    return this.#prefixes.length;
  }

  /** @param restored with a prefix that is not there yet */
  add({ prefix, identity, isRequested, isGuessed, isInMap }: RestoredPrefix): void {
    const row = this.length;
    if (row === this.#flags.length) this.#grow();
    this.#prefixes.push(prefix);
    this.#identities[row] = identity;
    this.#flags[row] = (isRequested ? REQUESTED : 0) | (isGuessed ? GUESSED : 0) | (isInMap ? IN_MAP : 0);
    this.#slots = undefined;
  }

  /** All are added: what is needed to find them is made now, and nobody waits for it later. @returns the index */
  complete(): Uint32Array {
    const slots = new Uint32Array(2 ** Math.ceil(Math.log2(2 * Math.max(this.length, 1))));
    for (const [row, prefix] of this.#prefixes.entries()) slots[this.#slotOf(slots, prefix)] = row + 1;
    this.#slots = slots;
    return slots;
  }

  /** The prefix was one with this number before already. */
  keepTime({ prefix, identity, time }: Placeholder): void {
    const row = this.#find(prefix);
    if (row < 0 || this.#identities[row] !== identity) return;
    // They come in the order in which they were written: nearly all have the time of the one before.
    let at = this.#times.lastIndexOf(time);
    if (at < 0) at = this.#times.push(time) - 1;
    this.#since[row] = at;
  }

  /** Whether the map has exactly this number for the prefix, and nothing else, since it was read. */
  isInMap(prefix: string, identity: number): boolean {
    const row = this.#find(prefix);
    return row >= 0 && ((this.#flags[row] as number) & IN_MAP) !== 0 && this.#identities[row] === identity;
  }

  /** The number of a prefix whose labels are to be guessed. @returns undefined for others, and the second time */
  takeGuess(prefix: string): number | undefined {
    const row = this.#find(prefix);
    if (row < 0 || ((this.#flags[row] as number) & GUESSED) === 0) return undefined;
    this.#flags[row] = (this.#flags[row] as number) & ~GUESSED;
    return this.#identities[row];
  }

  *[Symbol.iterator](): Iterator<Placeholder> {
    for (const [row, prefix] of this.#prefixes.entries()) {
      const identity = this.#identities[row] as number;
      const time = this.#times[this.#since[row] as number] as string;
      if (((this.#flags[row] as number) & REQUESTED) !== 0) yield { prefix, identity, requested: true, time };
      else yield { prefix, identity, time };
    }
  }

  /** Who asks for many asks in the order in which they came, most of the time: that needs no index. */
  #find(prefix: string): number {
    if (this.#prefixes[this.#next] === prefix) return this.#next++;
    const slots = this.#slots ?? this.complete();
    const row = (slots[this.#slotOf(slots, prefix)] as number) - 1;
    this.#next = row + 1;
    return row;
  }

  /** Where the prefix is, or the free place where it belongs. */
  #slotOf(slots: Uint32Array, prefix: string): number {
    const mask = slots.length - 1;
    for (let slot = hashOf(prefix) & mask; ; slot = (slot + 1) & mask) {
      const row = slots[slot] as number;
      if (row === 0 || this.#prefixes[row - 1] === prefix) return slot;
    }
  }

  #grow(): void {
    const rows = this.#flags.length * 2;
    this.#identities = grown(this.#identities, new Uint32Array(rows));
    this.#flags = grown(this.#flags, new Uint8Array(rows));
    this.#since = grown(this.#since, new Uint32Array(rows));
  }
}

function grown<T extends Uint8Array | Uint32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}
