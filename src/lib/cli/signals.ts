/**
 * SIGINT and SIGTERM: the first asks the command to stop, the second does not ask. SIGHUP keeps its default, or nohup, which
 * ignores it for us, would have no effect.
 */
import { constants } from 'node:os';
import type { Runtime } from './runtime.ts';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Why `signal` of a command was aborted. Not a failure: nothing is printed, the exit status is 128 + n. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(name: NodeJS.Signals) {
    super(`interrupted by ${name}`);
    this.name = 'Interrupted';
    this.exitCode = 128 + constants.signals[name];
  }
}

/** Watches for signals during one run. A command that never asks for `signal` is ended by the first one. */
export class Interruption {
  readonly #controller = new AbortController();
  readonly #stopWatching: () => void;
  readonly #beforeExit: () => void;
  readonly #runtime: Pick<Runtime, 'exit'>;
  #wanted = false;

  /** @param beforeExit drops half-written output when the process ends without unwinding */
  constructor(runtime: Pick<Runtime, 'onSignal' | 'exit'>, beforeExit: () => void) {
    this.#runtime = runtime;
    this.#beforeExit = beforeExit;
    this.#stopWatching = runtime.onSignal(STOP_SIGNALS, (name) => this.#received(name));
  }

  get signal(): AbortSignal {
    this.#wanted = true;
    return this.#controller.signal;
  }

  /** @returns what interrupted the run, or undefined */
  get reason(): Interrupted | undefined {
    return this.#controller.signal.aborted ? (this.#controller.signal.reason as Interrupted) : undefined;
  }

  stopWatching(): void {
    this.#stopWatching();
  }

  #received(name: NodeJS.Signals): void {
    const reason = new Interrupted(name);
    if (this.#wanted && !this.#controller.signal.aborted) {
      this.#controller.abort(reason);
      return;
    }
    this.#beforeExit();
    this.#runtime.exit(reason.exitCode);
  }
}
