/**
 * Keeps a map like what it is told, as fast as changes come: the newest change of a prefix, narrower prefixes before wider
 * ones, batches while the kernel works on another thread, and nothing lost where the kernel cannot take a write now.
 */
import type { BpfMap } from '../bpf/map.ts';
import type { IpcacheEvent } from '../cache/listener.ts';
import { KEY_BYTES, type Layout } from '../ipcache/layout.ts';
import type { EventMaker, MapChanges } from './bpf-listener.ts';
import { ParkedWrites } from './parked-writes.ts';
import { RetryDelay } from './retry-delay.ts';
import { identityOf } from './stored-identity.ts';
import type { WriteProblem } from './write-problem.ts';
import { ANY_IDENTITY, NOTHING, UPSERT, WriteQueue } from './write-queue.ts';
import { WriteRound } from './write-round.ts';
import { newCounts, type WriterCounts } from './writer-counts.ts';

export interface MapWriterOptions {
  readonly map: BpfMap;
  readonly layout: Layout;
  readonly timers: WriterTimers;
  /** 0 up to but not including 1, for the jitter of retries. */
  readonly random: () => number;
  /** Called once the map has the change, and with false when a write of it failed; a later try may still succeed. */
  readonly onOutcome?: ((event: IpcacheEvent, isApplied: boolean) => void) | undefined;
  readonly onProblem?: ((problem: WriteProblem) => void) | undefined;
  /** Asked before each round: false holds everything back for a moment. What it throws ends the writer. */
  readonly beforeWrite?: (() => Promise<boolean>) | undefined;
  /** What ended the writer. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** Upserts everything again, after more failed than could be remembered. */
  readonly replay?: (() => void) | undefined;
  /** Where the kernel refuses to change entries of a full map in place: delete, then insert, with a moment without entry. */
  readonly allowGap?: boolean | undefined;
  /** How many failed upserts are remembered. */
  readonly mostParked?: number | undefined;
}

export interface WriterTimers {
  setTimeout(run: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
}

const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 5_000;
/** How often a writer that is held back asks again. */
const HOLD_MS = 200;
const MOST_PARKED = 65_536;
/** Changes waiting before sources are asked to slow down; with what one turn adds, still less than a queue keeps room for. */
const MANY_PENDING = 30_000;
const NO_EVENTS: readonly IpcacheEvent[] = [];

export class MapWriter implements MapChanges {
  readonly counts: Readonly<WriterCounts>;
  readonly #options: MapWriterOptions;
  readonly #counts = newCounts();
  readonly #delay: RetryDelay;
  readonly #parked: ParkedWrites;
  #map: BpfMap;
  #round: WriteRound;
  #queue: WriteQueue;
  #inFlight: WriteQueue;
  #isRunning = false;
  #isScheduled = false;
  #isRetryDue = false;
  #failure: { readonly error: unknown } | undefined;
  #timer: unknown;
  #waiting: (() => void)[] = [];

  constructor(options: MapWriterOptions) {
    const { map, random, mostParked = MOST_PARKED } = options;
    this.#options = options;
    this.counts = this.#counts;
    this.#delay = new RetryDelay({ firstMs: FIRST_RETRY_MS, mostMs: LONGEST_RETRY_MS, random });
    this.#parked = new ParkedWrites(map.info.valueBytes, mostParked);
    this.#queue = new WriteQueue(map.info.valueBytes);
    this.#inFlight = new WriteQueue(map.info.valueBytes);
    this.#map = map;
    this.#round = this.#makeRound(map);
  }

  get map(): BpfMap {
    return this.#map;
  }

  /** Changes that the map does not have yet. */
  get pending(): number {
    return this.#queue.size + this.#inFlight.size + this.#parked.size;
  }

  /** What is pending, the oldest first; a key may be in more than one, and the last one counts. */
  get queues(): readonly WriteQueue[] {
    return [this.#parked.queue, this.#inFlight, this.#queue];
  }

  /** What the kernel answered last to a write that is still pending. */
  get lastErrno(): string | undefined {
    return this.#parked.size === 0 ? undefined : this.#parked.lastErrno;
  }

  /** Why changes wait, `map full 4/4`; undefined when none failed. */
  get stall(): string | undefined {
    if (this.#parked.size === 0) return undefined;
    const { maxEntries } = this.#map.info;
    return this.#round.isFull ? `map full ${maxEntries}/${maxEntries}` : `the kernel answered ${this.lastErrno}`;
  }

  upsert(key: Uint8Array, value: Uint8Array, change?: EventMaker): void {
    const events = this.#eventsOf(change);
    if (identityOf(this.#options.layout, value) === 0) {
      this.#counts.zeroIdentities++;
      this.#tell({ kind: 'zero-identity', message: 'identity 0 is never written', key: key.slice() });
      this.#settle(events, false);
      return;
    }
    const isParked = this.#parked.queue.append(key, value, events);
    const how = isParked ? 'equal' : this.#queue.upsert(key, value, events);
    if (how === 'equal') {
      this.#counts.equal++;
      return;
    }
    if (how === 'coalesced') this.#counts.coalesced++;
    this.#parked.supersede(key);
    this.#schedule();
  }

  /** @param identity what is meant to be deleted; ANY_IDENTITY for whatever is there */
  remove(key: Uint8Array, identity: number, change?: EventMaker): void {
    const events = this.#eventsOf(change);
    const waiting = this.#queue.holds(key) ? this.#queue : this.#parked.queue;
    const index = waiting.holds(key) ? waiting.find(key) : -1;
    let expected = identity;
    if (index >= 0 && waiting.operation(index) === UPSERT) {
      const upserted = identityOf(this.#options.layout, waiting.values, index * waiting.valueBytes);
      if (identity !== ANY_IDENTITY && upserted !== identity) {
        this.#counts.staleDeletes++;
        this.#settle(events, false);
        return;
      }
      // What is meant never reached the map: whatever is there is older.
      expected = ANY_IDENTITY;
    }
    if (this.#queue.remove(key, expected, events)) this.#counts.coalesced++;
    this.#parked.supersede(key);
    this.#schedule();
  }

  /** Settles when less is pending; undefined when there is no need to wait. For sources that can be slowed down. */
  drained(): Promise<void> | undefined {
    if (this.#queue.size < MANY_PENDING || this.#failure !== undefined) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Settles when everything was tried: the map has it, or it waits to be tried again. @throws what ended the writer */
  async flush(): Promise<void> {
    while (this.#isRunning || this.#isScheduled) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Asks `beforeWrite` and tries again what failed, now; to be called now and then while nothing changes. */
  poke(): void {
    this.#isRetryDue = true;
    this.#schedule();
  }

  /** Nothing is written any more; what is pending stays so. Settles when no write is under way. */
  async stop(): Promise<void> {
    this.#failure ??= { error: new Error('the writer was stopped') };
    this.#arm(undefined);
    await this.flush().catch(() => {});
  }

  /** Goes on with another map, from within `beforeWrite`. The old one is not closed. */
  useMap(map: BpfMap): void {
    this.#map = map;
    this.#round = this.#makeRound(map);
    this.#isRetryDue = true;
  }

  #makeRound(map: BpfMap): WriteRound {
    const { layout, allowGap = false } = this.#options;
    return new WriteRound({
      map,
      layout,
      parked: this.#parked,
      counts: this.#counts,
      allowGap,
      settle: (events, isApplied) => this.#settle(events, isApplied),
      tell: (problem) => this.#tell(problem),
      isSuperseded: (queue, index) => {
        const newer = this.#queue.find(queue.keys, index * KEY_BYTES);
        if (newer < 0 || this.#queue.operation(newer) === NOTHING) return false;
        this.#queue.expectAny(newer);
        return true;
      },
    });
  }

  #schedule(): void {
    if (this.#isRunning || this.#isScheduled || this.#failure !== undefined) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      while ((this.#queue.size > 0 || this.#isRetryDue) && this.#failure === undefined) {
        if ((await this.#options.beforeWrite?.()) === false) {
          this.#arm(HOLD_MS);
          break;
        }
        await this.#writeAll();
        this.#wake();
      }
    } catch (error) {
      this.#failure = { error };
      this.#options.onFailure?.(error);
    } finally {
      this.#isRunning = false;
      this.#wake();
    }
  }

  async #writeAll(): Promise<void> {
    const isRetry = this.#isRetryDue;
    this.#isRetryDue = false;
    [this.#queue, this.#inFlight] = [this.#inFlight, this.#queue];
    const before = this.#counts.deleted;
    await this.#round.write(this.#inFlight);
    this.#inFlight.clear();
    if (this.#parked.size > 0 && (isRetry || this.#counts.deleted > before) && (await this.#round.retry())) {
      this.#delay.reset();
    }
    this.#arm(this.#parked.size > 0 ? this.#delay.next() : undefined);
    if (this.#parked.size === 0 && this.#parked.takeOverflow()) this.#options.replay?.();
  }

  /** @param ms undefined: no retry is due. */
  #arm(ms: number | undefined): void {
    const { timers } = this.#options;
    if (this.#timer !== undefined) timers.clearTimeout(this.#timer);
    this.#timer = ms === undefined ? undefined : timers.setTimeout(() => this.poke(), ms);
  }

  #eventsOf(change: EventMaker | undefined): readonly IpcacheEvent[] {
    return change === undefined || this.#options.onOutcome === undefined ? NO_EVENTS : [change.event()];
  }

  #settle(events: readonly IpcacheEvent[], isApplied: boolean): void {
    for (const event of events) this.#options.onOutcome?.(event, isApplied);
  }

  #tell(problem: WriteProblem): void {
    this.#options.onProblem?.(problem);
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
