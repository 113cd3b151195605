/** Sees that the identity of one prefix keeps changing: two sources that disagree, or an address that is reused too fast. */
import type { IpcacheEvent, IpcacheListener } from '../cache/listener.ts';

/** So many changes within the window are flapping. */
const CHANGES = 3;
const WINDOW_MS = 60_000;
/** More prefixes that change at once are a rollout; the oldest are forgotten. */
const MOST_PREFIXES = 65_536;

interface Recent {
  readonly times: number[];
  readonly identities: number[];
  told: boolean;
}

export class FlapWatch implements IpcacheListener {
  readonly #recent = new Map<string, Recent>();
  readonly #monotonic: () => number;
  readonly #onFlapping: (prefix: string, identities: readonly number[]) => void;

  /** @param onFlapping told once, until the prefix has been quiet for a minute; identities in the order of the changes */
  constructor(monotonic: () => number, onFlapping: (prefix: string, identities: readonly number[]) => void) {
    this.#monotonic = monotonic;
    this.#onFlapping = onFlapping;
  }

  onIpcacheEvent(event: IpcacheEvent): void {
    if (event.kind !== 'upsert' || event.old === undefined || event.old.identity === event.entry.identity) return;
    const now = this.#monotonic();
    const recent = this.#recentOf(event.prefix, now);
    if (recent.identities.length === 0) recent.identities.push(event.old.identity);
    recent.times.push(now);
    recent.identities.push(event.entry.identity);
    if (recent.times.length < CHANGES) return;
    if (!recent.told) this.#onFlapping(event.prefix, [...recent.identities]);
    recent.told = true;
    // What was told stays told while changes go on: the latest ones are enough to know that.
    recent.times.splice(0, recent.times.length - CHANGES);
    recent.identities.splice(0, recent.identities.length - CHANGES - 1);
  }

  #recentOf(prefix: string, now: number): Recent {
    const known = this.#recent.get(prefix);
    // Taken out and put back, so that the first one in the table is the one that was quiet for the longest.
    this.#recent.delete(prefix);
    const last = known?.times.at(-1);
    let recent = known;
    if (recent === undefined || last === undefined || now - last > WINDOW_MS) {
      recent = { times: [], identities: [], told: false };
    } else if (!recent.told) {
      while (now - (recent.times[0] ?? now) > WINDOW_MS) {
        recent.times.shift();
        recent.identities.shift();
      }
    }
    this.#recent.set(prefix, recent);
    if (this.#recent.size > MOST_PREFIXES) this.#forgetOldest();
    return recent;
  }

  #forgetOldest(): void {
    for (const prefix of this.#recent.keys()) {
      this.#recent.delete(prefix);
      return;
    }
  }
}
