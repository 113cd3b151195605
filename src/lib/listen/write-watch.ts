/**
 * Between listener and writer: lets the outcome of a change be known where somebody wants it. Everybody's outcome costs
 * an object for each change, so only a monitor gets them all; for the latency one change in many is enough.
 */
import type { IpcacheEvent } from '../cache/listener.ts';
import type { EventMaker, MapChanges } from '../datapath/bpf-listener.ts';
import type { MapWriter } from '../datapath/map-writer.ts';

/** One change in so many is timed, of those that come in a crowd. */
const EVERY = 64;

export interface WriteWatchSetup {
  /** The writer; it is made after the watch, because it tells its outcomes to it. */
  readonly writer: () => Pick<MapWriter, 'upsert' | 'remove'>;
  readonly monotonic: () => number;
  /** Seconds from the event to the map. */
  readonly onLatency: (seconds: number) => void;
  /** Undefined: no monitor follows. */
  readonly onOutcome: ((event: IpcacheEvent, isApplied: boolean) => void) | undefined;
}

export class WriteWatch implements MapChanges {
  readonly #setup: WriteWatchSetup;
  readonly #begun = new Map<IpcacheEvent, number>();
  #count = 0;

  constructor(setup: WriteWatchSetup) {
    this.#setup = setup;
  }

  upsert(key: Uint8Array, value: Uint8Array, change: EventMaker): void {
    this.#setup.writer().upsert(key, value, this.#watched(change));
  }

  remove(key: Uint8Array, identity: number, change: EventMaker): void {
    this.#setup.writer().remove(key, identity, this.#watched(change));
  }

  /** For `onOutcome` of the writer. */
  readonly outcome = (event: IpcacheEvent, isApplied: boolean): void => {
    const begun = this.#begun.get(event);
    if (begun !== undefined) {
      this.#begun.delete(event);
      if (isApplied) this.#setup.onLatency((this.#setup.monotonic() - begun) / 1000);
    }
    this.#setup.onOutcome?.(event, isApplied);
  };

  #watched(change: EventMaker): EventMaker | undefined {
    // While few changes come, every one that finds no other under way is timed.
    const isTimed = (this.#begun.size === 0 || this.#count % EVERY === 0) && this.#begun.size < EVERY;
    this.#count++;
    if (isTimed) this.#begun.set(change.event(), this.#setup.monotonic());
    return isTimed || this.#setup.onOutcome !== undefined ? change : undefined;
  }
}
