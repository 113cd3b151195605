/** Sees that the identity of one prefix keeps changing: two sources that disagree, or an address that is reused too fast. */
import { EntryChange } from '../cache/entry-change.ts';
import type { IpcacheEvent, IpcacheListener } from '../cache/listener.ts';
import type { PackedKey } from '../cache/packed-key.ts';

/** So many changes within the window are flapping. */
const CHANGES = 3;
const WINDOW_MS = 60_000;
/**
 * Places for prefixes that changed lately, each at the one that its key leads to: a rollout changes very many prefixes
 * once, and must not cost more than a look at one place each. Whoever comes to a place that is taken, takes it.
 */
const PLACES = 65_536;
/** Words of a place: one line of memory. */
const WORDS = 16;
/** The five words of the key. */
const KEY = 0;
/** The times of the last changes, oldest first: milliseconds, of which the differences count. */
const TIMES = 5;
const LAST_TIME = TIMES + CHANGES - 1;
/** The identities before and after each of them. */
const IDENTITIES = LAST_TIME + 1;
const LAST_IDENTITY = IDENTITIES + CHANGES;
const COUNT = LAST_IDENTITY + 1;
const TOLD = COUNT + 1;

export class FlapWatch implements IpcacheListener {
  readonly #words = new Int32Array(PLACES * WORDS);
  readonly #change = new EntryChange();
  readonly #monotonic: () => number;
  readonly #onFlapping: (prefix: string, identities: readonly number[]) => void;

  /** @param onFlapping told once, until the prefix has been quiet for a minute; identities in the order of the changes */
  constructor(monotonic: () => number, onFlapping: (prefix: string, identities: readonly number[]) => void) {
    this.#monotonic = monotonic;
    this.#onFlapping = onFlapping;
  }

  onIpcacheEvent(event: IpcacheEvent): void {
    this.onEntryChange(this.#change.assign(event));
  }

  onEntryChange({ key, hasOld, old, entry }: EntryChange): void {
    if (!hasOld || old.identity === entry.identity) return;
    const words = this.#words;
    const now = this.#monotonic();
    const at = (key.home() & (PLACES - 1)) * WORDS;
    const isKnown = words[at + COUNT] !== 0 && this.#isAt(at, key) && this.#age(at + LAST_TIME, now) <= WINDOW_MS;
    if (!isKnown) this.#take(at, key, old.identity);
    for (let i = TIMES; i < LAST_TIME; i++) words[at + i] = words[at + i + 1] as number;
    for (let i = IDENTITIES; i < LAST_IDENTITY; i++) words[at + i] = words[at + i + 1] as number;
    words[at + LAST_TIME] = now;
    words[at + LAST_IDENTITY] = entry.identity;
    const count = Math.min((words[at + COUNT] as number) + 1, CHANGES);
    words[at + COUNT] = count;
    if (count < CHANGES || words[at + TOLD] === 1 || this.#age(at + TIMES, now) > WINDOW_MS) return;
    words[at + TOLD] = 1;
    const identities = words.subarray(at + IDENTITIES, at + LAST_IDENTITY + 1);
    this.#onFlapping(
      key.prefixText(),
      Array.from(identities, (identity) => identity >>> 0),
    );
  }

  #isAt(at: number, { w0, w1, w2, w3, meta }: PackedKey): boolean {
    const words = this.#words;
    return (
      words[at + KEY] === w0 &&
      words[at + KEY + 1] === meta &&
      words[at + KEY + 2] === w1 &&
      words[at + KEY + 3] === w2 &&
      words[at + KEY + 4] === w3
    );
  }

  #take(at: number, { w0, w1, w2, w3, meta }: PackedKey, identity: number): void {
    const words = this.#words;
    words[at + KEY] = w0;
    words[at + KEY + 1] = meta;
    words[at + KEY + 2] = w1;
    words[at + KEY + 3] = w2;
    words[at + KEY + 4] = w3;
    words[at + COUNT] = 0;
    words[at + TOLD] = 0;
    words[at + LAST_IDENTITY] = identity;
  }

  #age(index: number, now: number): number {
    return (now - (this.#words[index] as number)) >>> 0;
  }
}
