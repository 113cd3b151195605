/** What a restore keeps of its source: half a million entries are three lists and their texts, not as many objects. */
import type { EntryClass } from './entry-class.ts';

/** An entry that is restored, or that has a local or remote-node number and is not. */
export interface SourceEntry {
  /** As `dump` prints it. */
  readonly prefix: string;
  readonly identity: number;
  readonly class: EntryClass;
}

/** As an array has it; an object is made of an entry only while it is looked at. */
export interface Kept {
  readonly length: number;
  forEach(visit: (entry: SourceEntry) => void): void;
}

export class KeptEntries implements Kept {
  readonly #prefixes: string[] = [];
  readonly #identities: number[] = [];
  readonly #classes: EntryClass[] = [];

  get length(): number {
    return this.#prefixes.length;
  }

  add(prefix: string, identity: number, kind: EntryClass): void {
    this.#prefixes.push(prefix);
    this.#identities.push(identity);
    this.#classes.push(kind);
  }

  /** In the order in which they were added. */
  forEach(visit: (entry: SourceEntry) => void): void {
    for (let i = 0; i < this.#prefixes.length; i++) {
      visit({
        prefix: this.#prefixes[i] as string,
        identity: this.#identities[i] as number,
        class: this.#classes[i] as EntryClass,
      });
    }
  }
}
