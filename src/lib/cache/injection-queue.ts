/** The prefixes that wait to be resolved, and the revisions by which a caller knows that its own are done. */
import type { PrefixState } from './prefix-state.ts';

export class InjectionQueue {
  #waiting: PrefixState[] = [];
  #taken = 0;
  /** Belongs to everything that is queued from now on. */
  #revision = 1;
  #done = 0;
  #waiters: { readonly revision: number; readonly resolve: () => void }[] = [];

  get size(): number {
    return this.#waiting.length;
  }

  /** Those that wait, and those that are being resolved. */
  get unfinished(): number {
    return this.#waiting.length + this.#taken;
  }

  /** The revision whose end tells that everything queued until now is applied. */
  get revision(): number {
    return this.#waiting.length > 0 ? this.#revision : this.#revision - 1;
  }

  /** The keys in the order in which they were queued. */
  keys(): string[] {
    return this.#waiting.map(({ key }) => key);
  }

  /** Does nothing for a prefix that waits already. */
  add(state: PrefixState): void {
    if (state.queued) return;
    state.queued = true;
    this.#waiting.push(state);
  }

  /** Takes everything that waits and starts the next revision; to be given back with `giveBack`. */
  take(): { readonly states: PrefixState[]; readonly revision: number } {
    const states = this.#waiting;
    this.#taken = states.length;
    this.#waiting = [];
    for (const state of states) state.queued = false;
    return { states, revision: this.#revision++ };
  }

  /** What was taken is applied but for these, which wait again. */
  giveBack(remaining: readonly PrefixState[]): void {
    this.#taken = 0;
    for (const state of remaining) this.add(state);
  }

  /** Everything taken with this revision is applied. A later one stands for those before it that had failed. */
  finish(revision: number): void {
    this.#done = Math.max(this.#done, revision);
    const ready = this.#waiters.filter((waiter) => waiter.revision <= this.#done);
    if (ready.length === 0) return;
    this.#waiters = this.#waiters.filter((waiter) => waiter.revision > this.#done);
    for (const { resolve } of ready) resolve();
  }

  /** Settles when the revision is applied. */
  waitFor(revision: number): Promise<void> {
    if (revision <= this.#done) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ revision, resolve }));
  }
}
