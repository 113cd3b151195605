/** Every owner that has ever spoken, one object each. There are as many as sources, so they are never forgotten. */
import { sourceRank } from './source-rank.ts';

/** The owner of the one value that the metadata gives; no direct owner can have this name. */
export const METADATA_OWNER = '\0metadata';

/** One owner of values. Direct owners are told apart by source and name; the metadata is one whatever its source is. */
export interface Owner {
  readonly name: string;
  readonly source: string;
  /** Smaller is stronger. */
  readonly rank: number;
  /** Counted from 0. */
  readonly number: number;
}

export class Owners {
  readonly #byName = new Map<string, Map<string, Owner>>();
  readonly #all: Owner[] = [];
  /** Whoever speaks goes on speaking. */
  #last: Owner | undefined;

  get(name: string, source: string): Owner {
    const last = this.#last;
    if (last !== undefined && last.source === source && last.name === name) return last;
    let bySource = this.#byName.get(name);
    if (bySource === undefined) {
      bySource = new Map();
      this.#byName.set(name, bySource);
    }
    let owner = bySource.get(source);
    if (owner === undefined) {
      owner = { name, source, rank: sourceRank(source), number: this.#all.length };
      this.#all.push(owner);
      bySource.set(source, owner);
    }
    this.#last = owner;
    return owner;
  }

  /** @param number of an owner that there is */
  at(number: number): Owner {
    return this.#all[number] as Owner;
  }

  /** The metadata speaks with the source of its strongest resource. */
  metadata(source: string): Owner {
    return this.get(METADATA_OWNER, source);
  }
}

/** Whether values of both are one and the same value. */
export function isSameOwner(a: Owner, b: Owner): boolean {
  return a === b || (a.name === METADATA_OWNER && b.name === METADATA_OWNER);
}
