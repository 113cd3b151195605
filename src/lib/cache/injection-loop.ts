/** Runs the injector in the background: in short slices, again after a failure, and at once when something new waits. */
import type { InjectionQueue } from './injection-queue.ts';
import { BATCH_PREFIXES, type InjectionResult, type Injector } from './injector.ts';

/** Time and turns of the event loop, given by the caller. */
export interface Scheduler {
  /** Milliseconds that only go forward. */
  now(): number;
  /** Runs the function when other events had their turn. */
  soon(run: () => void): void;
  /** @returns what cancels it */
  later(run: () => void, delayMs: number): () => void;
}

export interface InjectionLoopSetup {
  readonly queue: InjectionQueue;
  readonly injector: Injector;
  /** Nothing is taken from the queue while this is false. */
  readonly isReady: () => boolean;
}

/** How long one slice may hold the event loop. */
const SLICE_MS = 5;
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;

export class InjectionLoop {
  readonly #setup: InjectionLoopSetup;
  #scheduler: Scheduler | undefined;
  #isRunning = false;
  #retryMs = FIRST_RETRY_MS;
  #cancelRetry: (() => void) | undefined;

  constructor(setup: InjectionLoopSetup) {
    this.#setup = setup;
  }

  /** From now on the queue is worked off by itself. */
  start(scheduler: Scheduler): void {
    this.#scheduler = scheduler;
    this.wake();
  }

  /** A run that has begun comes to its end in its turns; nothing new begins. */
  stop(): void {
    this.#scheduler = undefined;
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
  }

  /** Something was queued, or readiness changed. */
  wake(): void {
    const scheduler = this.#scheduler;
    if (scheduler === undefined || this.#isRunning || this.#setup.queue.size === 0 || !this.#setup.isReady()) return;
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    this.#isRunning = true;
    scheduler.soon(() => this.#begin(scheduler));
  }

  /** Works off the queue now, in the order of the keys, so that numbers can be foretold. Not while a run in the background goes on. */
  runNow(): InjectionResult {
    if (this.#isRunning) throw new TypeError('the queue is being worked off in the background');
    const { states, revision } = this.#setup.queue.take();
    states.sort((a, b) => (a.key < b.key ? -1 : 1));
    const steps = this.#setup.injector.inject(states, batchPrefixes(revision));
    for (;;) {
      const step = steps.next();
      if (step.done) return this.#finish(revision, step.value);
    }
  }

  #begin(scheduler: Scheduler): void {
    const { states, revision } = this.#setup.queue.take();
    const steps = this.#setup.injector.inject(states, batchPrefixes(revision));
    const slice = (): void => {
      const end = scheduler.now() + SLICE_MS;
      do {
        const step = steps.next();
        if (step.done) {
          this.#isRunning = false;
          const { error } = this.#finish(revision, step.value);
          if (error === undefined) this.wake();
          else this.#retryLater();
          return;
        }
      } while (scheduler.now() < end);
      scheduler.soon(slice);
    };
    slice();
  }

  #finish(revision: number, result: InjectionResult): InjectionResult {
    this.#setup.queue.giveBack(result.remaining);
    if (result.error === undefined) {
      this.#retryMs = FIRST_RETRY_MS;
      this.#setup.queue.finish(revision);
    }
    return result;
  }

  #retryLater(): void {
    const delayMs = this.#retryMs;
    this.#retryMs = Math.min(delayMs * 2, LONGEST_RETRY_MS);
    this.#cancelRetry = this.#scheduler?.later(() => this.wake(), delayMs);
  }
}

/** Nothing is released in the first run, so that it needs no batches. */
function batchPrefixes(revision: number): number {
  return revision === 1 ? Number.POSITIVE_INFINITY : BATCH_PREFIXES;
}
