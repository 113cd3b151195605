/** One round of a writer: a queue of changes goes into the map, and what the kernel cannot take now is parked. */
import { errnoOf } from '../bpf/bpf-error.ts';
import { KeyProbe } from '../bpf/key-probe.ts';
import type { BpfMap } from '../bpf/map.ts';
import type { IpcacheEvent } from '../cache/listener.ts';
import { ToolError } from '../errors.ts';
import type { Layout } from '../ipcache/layout.ts';
import { EntryRemover, type Removal } from './entry-remover.ts';
import { type AfterFailure, EntryUpdater } from './entry-updater.ts';
import type { ParkedWrites } from './parked-writes.ts';
import { narrowestFirst } from './write-order.ts';
import { isFull, isPassing, type WriteProblem } from './write-problem.ts';
import { NOTHING, REMOVE, UPSERT, type WriteQueue } from './write-queue.ts';
import type { WriterCounts } from './writer-counts.ts';

export interface WriteRoundOptions {
  readonly map: BpfMap;
  readonly layout: Layout;
  readonly parked: ParkedWrites;
  readonly counts: WriterCounts;
  readonly allowGap: boolean;
  readonly settle: (events: readonly IpcacheEvent[], isApplied: boolean) => void;
  readonly tell: (problem: WriteProblem) => void;
  /** Whether a newer change of the key is waiting, which then no longer depends on what is stored. */
  readonly isSuperseded: (queue: WriteQueue, index: number) => boolean;
}

export class WriteRound {
  readonly #options: WriteRoundOptions;
  readonly #updater: EntryUpdater;
  readonly #remover: EntryRemover;
  readonly #probe: KeyProbe;
  #isFull = false;

  constructor(options: WriteRoundOptions) {
    this.#options = options;
    this.#updater = new EntryUpdater(options.map);
    this.#remover = new EntryRemover(options.map, options.layout);
    this.#probe = new KeyProbe(options.map);
  }

  /** The map had no room for an entry when it was last asked. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Upserts before deletes, so that no address is without an entry in between; the other way round when the map is full. */
  async write(batch: WriteQueue): Promise<void> {
    const upserts: number[] = [];
    let removes: number[] = [];
    for (let i = 0; i < batch.slots; i++) {
      if (batch.operation(i) === REMOVE) removes.push(i);
      else if (batch.operation(i) === UPSERT && !this.#holdBack(batch, i)) upserts.push(i);
    }
    const remove = async (): Promise<void> => {
      const now = removes;
      removes = [];
      await this.#remove(batch, now);
    };
    if (this.#isFull) await remove();
    await this.#update(batch, upserts, async (index, error) => {
      if (isFull(error)) {
        this.#isFull = true;
        if (removes.length > 0) {
          await remove();
          return 'again';
        }
        if (this.#replaceInPlace(batch, index)) return 'next';
      }
      this.#failed(batch, index, error);
      return 'next';
    });
    await remove();
  }

  /** Tries what is parked. @returns whether all of it went through, or failed for good */
  async retry(): Promise<boolean> {
    const { parked } = this.#options;
    await this.#remove(parked.queue, parked.indices(REMOVE));
    let isStopped = false;
    await this.#update(parked.queue, parked.indices(UPSERT), async (index, error) => {
      this.#failed(parked.queue, index, error);
      // What fails now says enough about what is behind it: that is wider, or no better off.
      isStopped = isPassing(error);
      return isStopped ? 'stop' : 'next';
    });
    if (!isStopped) this.#isFull = false;
    return !isStopped;
  }

  /**
   * A new wider prefix waits while a narrower one inside it could not be written: it would answer for that one's
   * addresses. One that is in the map answers for them already, and changes at once.
   */
  #holdBack(batch: WriteQueue, index: number): boolean {
    const { parked } = this.#options;
    if (!parked.hasWithin(batch, index) || this.#probe.byLookup(batch.keyAt(index)) === 'present') return false;
    this.#park(batch, index, parked.lastErrno);
    return true;
  }

  async #update(
    queue: WriteQueue,
    indices: readonly number[],
    failed: (index: number, error: ToolError) => Promise<AfterFailure>,
  ): Promise<void> {
    const { counts, tell } = this.#options;
    await this.#updater.update(queue, narrowestFirst(queue.keys, indices), {
      written: (index) => this.#written(queue, index),
      failed,
      fellBack: (errno) => {
        counts.fallbacks++;
        tell({ kind: 'fallback', message: `a batch broke off with ${errno}: the rest of it goes one by one` });
      },
    });
  }

  async #remove(queue: WriteQueue, indices: readonly number[]): Promise<void> {
    const { counts } = this.#options;
    await this.#remover.remove(queue, indices, {
      removed: (index, how) => {
        counts[COUNTED[how]]++;
        this.#done(queue, index, how !== 'stale');
      },
      failed: (index, error) => this.#failed(queue, index, error),
    });
  }

  #written(queue: WriteQueue, index: number): void {
    this.#options.counts.written++;
    this.#done(queue, index, true);
  }

  #done(queue: WriteQueue, index: number, isApplied: boolean): void {
    if (queue.operation(index) === NOTHING) return;
    this.#options.settle(queue.events(index), isApplied);
    queue.drop(index);
  }

  #failed(queue: WriteQueue, index: number, error: ToolError): void {
    if (queue.operation(index) === NOTHING) return;
    const { counts, tell } = this.#options;
    const passes = isPassing(error);
    if (passes) counts.retried++;
    else counts.failed++;
    tell({ kind: passes ? 'parked' : 'failed', message: error.message, key: queue.keyAt(index) });
    if (passes) this.#park(queue, index, errnoOf(error));
    else this.#done(queue, index, false);
  }

  #park(queue: WriteQueue, index: number, errno: string | undefined): void {
    const { parked, settle, isSuperseded } = this.#options;
    parked.lastErrno = errno;
    if (queue === parked.queue) return;
    settle(queue.events(index), false);
    if (!isSuperseded(queue, index)) parked.add(queue, index);
    queue.drop(index);
  }

  /** Where this kernel refuses to replace a value because the map is full. @returns whether the value is in the map now */
  #replaceInPlace(queue: WriteQueue, index: number): boolean {
    const { map, allowGap, counts, tell } = this.#options;
    const key = queue.keyAt(index);
    if (this.#probe.byLookup(key) !== 'present') return false;
    tell({ kind: 'in-place-refused', message: 'this kernel refuses to change entries of a full map in place', key });
    if (!allowGap) return false;
    map.delete(key);
    counts.gaps++;
    try {
      map.update(key, queue.valueAt(index));
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      return false;
    }
    this.#written(queue, index);
    return true;
  }
}

const COUNTED: Readonly<Record<Removal, 'deleted' | 'absent' | 'staleDeletes'>> = {
  deleted: 'deleted',
  absent: 'absent',
  stale: 'staleDeletes',
};
