/** Turns of the event loop and time, one step after the other, as a test wants them. */
import type { Scheduler } from '../../src/lib/cache/injection-loop.ts';

export class FakeScheduler implements Scheduler {
  #now = 0;
  /** What every look at the clock costs. */
  readonly #tickMs: number;
  #soon: (() => void)[] = [];
  #later: { readonly at: number; readonly run: () => void }[] = [];
  /** How many turns have run. */
  turns = 0;

  constructor(tickMs = 0) {
    this.#tickMs = tickMs;
  }

  now(): number {
    this.#now += this.#tickMs;
    return this.#now;
  }

  soon(run: () => void): void {
    this.#soon.push(run);
  }

  later(run: () => void, delayMs: number): () => void {
    const timer = { at: this.#now + delayMs, run };
    this.#later.push(timer);
    return () => {
      this.#later = this.#later.filter((other) => other !== timer);
    };
  }

  /** The delays that are being waited for. */
  get waiting(): number[] {
    return this.#later.map(({ at }) => at - this.#now);
  }

  /** Runs one turn of everything that was scheduled before it. @returns whether there was anything */
  turn(): boolean {
    const ready = this.#soon;
    this.#soon = [];
    for (const run of ready) run();
    if (ready.length > 0) this.turns++;
    return ready.length > 0;
  }

  /** Runs turns until nothing is scheduled. */
  settle(): void {
    while (this.turn());
  }

  /** Lets time pass, with the timers that become due. */
  pass(ms: number): void {
    this.#now += ms;
    const due = this.#later.filter(({ at }) => at <= this.#now);
    this.#later = this.#later.filter(({ at }) => at > this.#now);
    for (const { run } of due) run();
    this.settle();
  }
}
