/**
 * Where a walk can go on from. Keys vanish, and from a key that is gone there is no way on; so a walk remembers the last
 * two emitted keys of every batch, and goes back to the nearest key that is still there.
 */
import type { KeyProbe } from './key-probe.ts';
import type { KeyRun } from './key-run.ts';

const FIRST_CAPACITY = 16;

export class WalkCursors {
  readonly #keyBytes: number;
  readonly #probe: KeyProbe;
  /** Pairs: a key, and the one emitted before it. */
  #anchors: Uint8Array;
  #anchorCount = 0;
  readonly #cursor: Uint8Array;
  readonly #before: Uint8Array;
  #hasCursor = false;
  #hasBefore = false;
  #previous: KeyRun | undefined;
  /** Entries of `#previous` before the cursor. */
  #candidates = 0;

  constructor(keyBytes: number, probe: KeyProbe) {
    this.#keyBytes = keyBytes;
    this.#probe = probe;
    this.#anchors = new Uint8Array(2 * FIRST_CAPACITY * keyBytes);
    this.#cursor = new Uint8Array(keyBytes);
    this.#before = new Uint8Array(keyBytes);
  }

  /** The key to list from; undefined at the start. */
  get cursor(): Uint8Array | undefined {
    return this.#hasCursor ? this.#cursor : undefined;
  }

  /** The key emitted before the cursor; undefined where there was none. */
  get before(): Uint8Array | undefined {
    return this.#hasBefore ? this.#before : undefined;
  }

  /** Moves to entry `index` of a run, whose buffers must stay as they are until the next move. */
  advance(run: KeyRun, index: number): void {
    if (index > 0) run.copyKey(index - 1, this.#before);
    else if (this.#hasCursor) this.#before.set(this.#cursor);
    this.#hasBefore = index > 0 || this.#hasCursor;
    run.copyKey(index, this.#cursor);
    this.#hasCursor = true;
    this.#previous = run;
    this.#candidates = index;
    this.#pushAnchor();
  }

  /**
   * The cursor is gone: moves to the nearest earlier key that is not known to be gone too, looking ever farther back, or
   * to the start. @param restarts whether next-key tells (Linux 6.13). Otherwise two lookups do, and where they leave it
   * open the key is tried: the second reading has to list it anyway.
   */
  retreat(restarts: boolean): void {
    const run = this.#previous;
    for (let step = 1; run !== undefined && step <= this.#candidates; step *= 2) {
      const index = this.#candidates - step;
      run.copyKey(index, this.#cursor);
      if (!this.#mayBeThere(restarts)) continue;
      this.#candidates = index;
      this.#hasBefore = index > 0;
      if (index > 0) run.copyKey(index - 1, this.#before);
      return;
    }
    this.#candidates = 0;
    this.#retreatToAnchor(restarts);
  }

  #retreatToAnchor(restarts: boolean): void {
    while (this.#anchorCount > 0) {
      const at = --this.#anchorCount * 2 * this.#keyBytes;
      this.#cursor.set(this.#anchors.subarray(at, at + this.#keyBytes));
      this.#before.set(this.#anchors.subarray(at + this.#keyBytes, at + 2 * this.#keyBytes));
      this.#hasBefore = true;
      if (this.#mayBeThere(restarts)) return;
    }
    this.#hasCursor = false;
    this.#hasBefore = false;
  }

  #mayBeThere(restarts: boolean): boolean {
    const presence = restarts ? this.#probe.byNextKey(this.#cursor, true) : this.#probe.byLookup(this.#cursor);
    return presence !== 'absent';
  }

  #pushAnchor(): void {
    if (!this.#hasBefore) return;
    const at = this.#anchorCount++ * 2 * this.#keyBytes;
    if (at === this.#anchors.length) {
      const grown = new Uint8Array(this.#anchors.length * 2);
      grown.set(this.#anchors);
      this.#anchors = grown;
    }
    this.#anchors.set(this.#cursor, at);
    this.#anchors.set(this.#before, at + this.#keyBytes);
  }
}
