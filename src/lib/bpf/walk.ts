/**
 * The one way through an LPM trie: every entry that is there all the time exactly once, every other at most once, in the
 * kernel's order, on a map that others change meanwhile. The next batch is read on a pool thread while the consumer
 * works on this one.
 */
import { KeyProbe } from './key-probe.ts';
import { KeyRun } from './key-run.ts';
import type { BpfMap } from './map.ts';
import { nextKeyRestarts } from './next-key-restarts.ts';
import { RunReader } from './run-reader.ts';
import { WalkCursors } from './walk-cursors.ts';
import { proveByOrder, proveByRereading, type RunProof } from './walk-proof.ts';

export interface WalkOptions {
  /** Ends the walk as incomplete, at the next batch. */
  readonly signal?: AbortSignal | undefined;
  /** Entries read at a time, at least 2. */
  readonly batchEntries?: number | undefined;
}

/** Entries `firstNew` … `count − 1` are new; those before were emitted already. Valid until the next step. */
export interface WalkBatch {
  /** Keys one after the other, `info.keyBytes` each. */
  readonly keys: Uint8Array;
  /** Values, `info.valueBytes` each, at the same index. */
  readonly values: Uint8Array;
  readonly count: number;
  readonly firstNew: number;
}

export interface WalkResult {
  /** Every entry that was there from begin to end was emitted. */
  readonly complete: boolean;
  /** Entries emitted. */
  readonly entries: number;
  /** How often something had to be listed again because keys vanished under the listing. */
  readonly restarts: number;
  /** Why it is not complete, to follow a colon. */
  readonly reason?: string;
}

const BATCH_ENTRIES = 4096;
/** A map that ends within so many entries is read twice: cheaper than finding out what the kernel does. */
const SMALL_ENTRIES = 256;
/** The second reading has to hold the cursor, and what was added meanwhile. */
const SPARE_ENTRIES = 16;
/** Readings in a row that found nothing new. */
const MAX_FRUITLESS = 1000;
/** A map is read at most so many times over, whatever is added in front of the walk. */
const MAX_ROUNDS = 8;
/** What a reading costs at least, in entries. */
const READING_COST = 16;

/**
 * Walks the map. Throws what the kernel answers; that others change the map is no error, and where it keeps the walk from
 * getting on the result says so. At most 600 kB of buffers, nothing allocated per entry.
 */
export function walkMap(map: BpfMap, options: WalkOptions = {}): AsyncGenerator<WalkBatch, WalkResult, void> {
  return new Walk(map, options).run();
}

class Walk {
  readonly #map: BpfMap;
  readonly #signal: AbortSignal | undefined;
  readonly #batchEntries: number;
  readonly #reader: RunReader;
  readonly #probe: KeyProbe;
  readonly #cursors: WalkCursors;
  #current: KeyRun;
  #other: KeyRun;
  /** The second reading; undefined where order proves enough. */
  #again: KeyRun | undefined;
  #proofChosen = false;
  /** Settles when `#current`, and `#again` where there is one, are read. */
  #reading: Promise<void> | undefined;
  /** Entries to ask for; fewer while many vanish, as what follows one is read again. */
  #limit: number;
  #entries = 0;
  #restarts = 0;
  #fruitless = 0;
  #budget: number;
  readonly #emitted: Uint8Array;

  constructor(map: BpfMap, { signal, batchEntries = BATCH_ENTRIES }: WalkOptions) {
    this.#map = map;
    this.#signal = signal;
    this.#batchEntries = Math.max(2, batchEntries);
    this.#reader = new RunReader(map, signal);
    this.#probe = new KeyProbe(map);
    this.#cursors = new WalkCursors(map.info.keyBytes, this.#probe);
    this.#current = new KeyRun(map.info, this.#batchEntries);
    this.#other = new KeyRun(map.info, this.#batchEntries);
    this.#limit = this.#batchEntries;
    this.#budget = MAX_ROUNDS * map.info.maxEntries + 64 * this.#batchEntries;
    this.#emitted = new Uint8Array(map.info.keyBytes);
  }

  async *run(): AsyncGenerator<WalkBatch, WalkResult, void> {
    try {
      this.#startReading();
      for (;;) {
        await this.#reading;
        if (this.#signal?.aborted) return this.#result('interrupted');
        const run = this.#current;
        const proof = this.#prove(run);
        const firstNew = this.#entries > 0 ? run.firstAfter(this.#emitted, proof.trusted) : 0;
        const reason = this.#account(run, proof, firstNew);
        if (!proof.complete && reason === undefined) {
          this.#move(run, proof);
          this.#startReading();
        }
        if (firstNew < proof.trusted) {
          run.copyKey(proof.trusted - 1, this.#emitted);
          this.#entries += proof.trusted - firstNew;
          yield { keys: run.keys, values: run.values, count: proof.trusted, firstNew };
        }
        if (proof.complete) return this.#result(undefined);
        if (reason !== undefined) return this.#result(reason);
      }
    } finally {
      // The kernel may still be writing into the buffers; and who breaks off closes the map next.
      await this.#reading?.catch(() => undefined);
    }
  }

  #prove(run: KeyRun): RunProof {
    const { cursor } = this.#cursors;
    return this.#again === undefined
      ? proveByOrder(run, cursor, this.#probe)
      : proveByRereading(run, cursor, this.#again);
  }

  /** @returns why the walk has to stop here, or undefined. */
  #account(run: KeyRun, { trusted, disturbed }: RunProof, firstNew: number): string | undefined {
    if (disturbed) this.#restarts++;
    if (firstNew < trusted) this.#fruitless = 0;
    else if (trusted === 0) this.#fruitless++;
    this.#budget -= Math.max(run.count, READING_COST);
    if (this.#fruitless < MAX_FRUITLESS && this.#budget > 0) return undefined;
    return 'the map changed faster than it could be read';
  }

  #move(run: KeyRun, { trusted, lost, disturbed }: RunProof): void {
    if (lost) this.#cursors.retreat(this.#again === undefined);
    const limit = disturbed ? Math.max(READING_COST, 2 * trusted) : 2 * this.#limit;
    this.#limit = Math.min(this.#batchEntries, limit);
    if (trusted === 0) return;
    this.#cursors.advance(run, trusted - 1);
    [this.#current, this.#other] = [this.#other, this.#current];
  }

  #startReading(): void {
    this.#reading = this.#read();
    // Looked at only after the consumer comes back.
    this.#reading.catch(() => undefined);
  }

  async #read(): Promise<void> {
    const run = this.#current;
    await this.#reader.read(run, this.#cursors.cursor, this.#limit);
    if (!this.#proofChosen) await this.#chooseProof(run);
    const again = this.#again;
    if (again === undefined) return;
    await this.#reader.read(again, this.#cursors.before, Math.min(again.capacity, run.count + SPARE_ENTRIES));
  }

  async #chooseProof(run: KeyRun): Promise<void> {
    this.#proofChosen = true;
    const small = run.end && run.count <= SMALL_ENTRIES;
    if ((small && run.count === 0) || (!small && (await nextKeyRestarts(this.#map.kernel)))) return;
    this.#again = new KeyRun(this.#map.info, (small ? SMALL_ENTRIES : this.#batchEntries) + SPARE_ENTRIES);
  }

  #result(reason: string | undefined): WalkResult {
    const counts = { complete: reason === undefined, entries: this.#entries, restarts: this.#restarts };
    return reason === undefined ? counts : { ...counts, reason };
  }
}
