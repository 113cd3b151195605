/** Tells the service manager how the loop is: sd_notify(3). Without a socket it tells nobody. */
import { FailedError } from '../errors.ts';
import { sdNotify } from '../native/sd-notify.ts';
import type { LoopStatus } from './loop-status.ts';

export interface ServiceNotifierSetup {
  /** The value of NOTIFY_SOCKET. */
  readonly socket: string | undefined;
  /** The value of WATCHDOG_USEC. */
  readonly watchdogUsec: string | undefined;
  readonly status: () => LoopStatus;
  readonly onFailure: (error: FailedError) => void;
}

const STATUS_MS = 1000;

export class ServiceNotifier {
  readonly #setup: ServiceNotifierSetup;
  readonly #timers: NodeJS.Timeout[] = [];
  #isReady = false;
  #hasFailed = false;
  #last = '';

  constructor(setup: ServiceNotifierSetup) {
    this.#setup = setup;
  }

  start(): void {
    const { socket, watchdogUsec } = this.#setup;
    if (socket === undefined) return;
    this.#timers.push(setInterval(() => this.tick(), STATUS_MS));
    const watchdogMs = Number(watchdogUsec) / 1000;
    // Twice within the time; a loop that hangs sends nothing.
    if (watchdogMs > 0) this.#timers.push(setInterval(() => this.#send('WATCHDOG=1'), watchdogMs / 2));
  }

  /** Ready once the map is open and everything restored is in it: whether the sources are complete is for status. */
  tick(): void {
    const status = this.#setup.status();
    if (!this.#isReady && status.phase === 'run') {
      this.#isReady = true;
      this.#send('READY=1');
    }
    const text = statusText(status);
    if (text !== this.#last) this.#send(`STATUS=${text}`);
    this.#last = text;
  }

  stopping(): void {
    this.#send('STOPPING=1');
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  #send(message: string): void {
    const { socket, onFailure } = this.#setup;
    if (socket === undefined) return;
    try {
      sdNotify(socket, message);
      this.#hasFailed = false;
    } catch (error) {
      if (!(error instanceof FailedError)) throw error;
      if (!this.#hasFailed) onFailure(error);
      this.#hasFailed = true;
    }
  }
}

function statusText({ phase, ready, entries, pending, stall, sources }: LoopStatus): string {
  if (phase !== 'run') return `phase ${phase}`;
  const missing = sources.filter(({ synced }) => synced === undefined).map(({ name }) => name);
  const waiting = missing.length === 0 ? '' : `, waiting for ${missing.join(', ')}`;
  const behind = pending === 0 ? '' : `, ${pending} pending${stall === undefined ? '' : ` (${stall})`}`;
  return `${ready ? 'ready' : 'running'}, ${entries} entries${behind}${waiting}`.replaceAll('\n', ' ');
}
