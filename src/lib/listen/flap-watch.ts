/** Sees that the identity of one prefix keeps changing: two sources that disagree, or an address that is reused too fast. */
import type { IpcacheEvent, IpcacheListener } from '../cache/listener.ts';

/** So many changes within the window are flapping. */
const CHANGES = 3;
const WINDOW_MS = 60_000;
/**
 * Places for prefixes that changed lately, each at the one that its text leads to: a rollout changes very many prefixes
 * once, and must not cost more than a look at one place each. Whoever comes to a place that is taken, takes it.
 */
const PLACES = 65_536;

export class FlapWatch implements IpcacheListener {
  readonly #prefixes: (string | undefined)[] = new Array(PLACES);
  /** The times of the last changes, and the identities before and after each, oldest first. */
  readonly #times = new Float64Array(PLACES * CHANGES);
  readonly #identities = new Float64Array(PLACES * (CHANGES + 1));
  readonly #counts = new Uint8Array(PLACES);
  readonly #told = new Uint8Array(PLACES);
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
    const place = placeOf(event.prefix);
    const last = place * CHANGES + CHANGES - 1;
    const isKnown = this.#prefixes[place] === event.prefix && now - (this.#times[last] as number) <= WINDOW_MS;
    if (!isKnown) {
      this.#prefixes[place] = event.prefix;
      this.#counts[place] = 0;
      this.#told[place] = 0;
      this.#identities[place * (CHANGES + 1) + CHANGES] = event.old.identity;
    }
    this.#times.copyWithin(place * CHANGES, place * CHANGES + 1, last + 1);
    this.#times[last] = now;
    const identities = place * (CHANGES + 1);
    this.#identities.copyWithin(identities, identities + 1, identities + CHANGES + 1);
    this.#identities[identities + CHANGES] = event.entry.identity;
    this.#counts[place] = Math.min((this.#counts[place] as number) + 1, CHANGES);
    if (this.#counts[place] < CHANGES || this.#told[place] === 1) return;
    if (now - (this.#times[place * CHANGES] as number) > WINDOW_MS) return;
    this.#told[place] = 1;
    this.#onFlapping(event.prefix, [...this.#identities.subarray(identities, identities + CHANGES + 1)]);
  }
}

function placeOf(prefix: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < prefix.length; i++) hash = Math.imul(hash ^ prefix.charCodeAt(i), 0x01000193);
  return (hash ^ (hash >>> 16)) & (PLACES - 1);
}
