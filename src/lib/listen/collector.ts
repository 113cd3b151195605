/** Garbage collection of the loop: what the map has and the cache has not, once every source has said everything. */
import { setTimeout as sleep } from 'node:timers/promises';
import { FailedError, RefusedError, ToolError } from '../errors.ts';
import { collectGarbage } from '../gc/collect-garbage.ts';
import { collectedLately, DEFAULT_LIMIT, type DeleteLimit } from '../gc/delete-limit.ts';
import { countCollected, garbageBackup } from '../gc/garbage-records.ts';
import { writeBackup } from '../state/backup.ts';
import type { CollectedState } from '../state/checkpoint.ts';
import type { State } from '../state/state.ts';
import type { CacheDesired } from './cache-desired.ts';
import { timeText } from './clock.ts';
import type { LoopSetup } from './loop-setup.ts';
import type { MapFollower } from './map-follower.ts';
import type { SourceGroup } from './source-group.ts';

export interface CollectorSetup {
  readonly setup: LoopSetup;
  readonly state: State;
  readonly desired: CacheDesired;
  readonly follower: MapFollower;
  readonly sources: SourceGroup;
  readonly collected: readonly CollectedState[];
  readonly onChange: () => void;
}

export interface CollectorRun {
  readonly entries: number;
  readonly stale: number;
  readonly deleted: number;
  /** Missing from the cache and kept all the same, by rule. */
  readonly skipped: number;
  readonly backup?: string;
}

/** Longer than the interval of anybody's checkpoint. */
const CONFIRM_MS = 15_000;

export class Collector {
  readonly #setup: CollectorSetup;
  readonly #stop = new AbortController();
  #collected: readonly CollectedState[];
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<CollectorRun> | undefined;
  #counts: { runs: number; failures: number; deleted: number; lastRun?: string } = { runs: 0, failures: 0, deleted: 0 };

  constructor(setup: CollectorSetup) {
    this.#setup = setup;
    this.#collected = setup.collected;
  }

  get counts(): Readonly<{ runs: number; failures: number; deleted: number; lastRun?: string }> {
    return this.#counts;
  }

  /** What was deleted within the last hour, for the checkpoint. */
  get collected(): readonly CollectedState[] {
    return collectedLately(this.#collected, this.#setup.setup.clock.now());
  }

  start(): void {
    const { gcIntervalMs } = this.#setup.setup;
    if (gcIntervalMs === 0) return;
    this.#timer = setInterval(() => {
      if (this.#setup.sources.isSynced) this.run().catch(() => {});
    }, gcIntervalMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stop.abort();
    await this.#running?.catch(() => {});
  }

  /**
   * One collection; the one that is under way already, where there is one.
   * @throws {RefusedError} NOT_SYNCED, and what the guards of gc refuse @throws {ToolError} the map could not be read
   */
  run(options: { readonly limit?: DeleteLimit; readonly dryRun?: boolean } = {}): Promise<CollectorRun> {
    this.#running ??= this.#collect(options)
      .catch((error: unknown) => {
        this.#counts.failures++;
        if (!(error instanceof ToolError)) throw error;
        if (!this.#stop.signal.aborted) this.#setup.setup.tell({ kind: 'gc-failed', error });
        throw error;
      })
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  async #collect({
    limit = DEFAULT_LIMIT,
    dryRun = false,
  }: {
    readonly limit?: DeleteLimit;
    readonly dryRun?: boolean;
  }): Promise<CollectorRun> {
    const { setup, desired, follower, sources, onChange } = this.#setup;
    const { clock, tell } = setup;
    if (!sources.isSynced) {
      throw new RefusedError('Cannot collect garbage: not all sources have been complete yet', {
        code: 'NOT_SYNCED',
        hint: `waiting for ${sources.unsynced.map(({ name }) => name).join(', ')}`,
      });
    }
    let backup: string | undefined;
    const { map } = follower;
    const garbage = await collectGarbage({
      map,
      layout: follower.layout,
      desired: [desired],
      limit,
      collected: this.#collected,
      confirmMs: CONFIRM_MS,
      now: clock.now,
      dryRun,
      signal: this.#stop.signal,
      wait: (ms) => sleep(ms, undefined, { signal: this.#stop.signal }).catch(() => {}),
      beforeDelete: async (rows, stale) => {
        if (map.info.id !== follower.map.info.id) throw new FailedError('Cannot collect garbage: the map was replaced');
        const header = {
          time: timeText(clock.now()),
          command: 'listen',
          bootId: setup.bootId,
          map: { id: map.info.id, layout: follower.layout.name, pin: setup.pin },
        };
        backup = (await writeBackup(this.#setup.state.lock, header, garbageBackup(rows, stale)))?.path;
      },
    });
    const gone = garbage.stale.filter(({ outcome }) => outcome === 'deleted').map(({ row }) => row);
    // What was put back may be newer by now.
    for (const { row, outcome } of garbage.stale)
      if (outcome === 'raced') desired.tellAgain(garbage.rows, row, follower.listener);
    this.#counts = {
      ...this.#counts,
      runs: this.#counts.runs + 1,
      deleted: this.#counts.deleted + gone.length,
      lastRun: timeText(clock.now()),
    };
    if (gone.length > 0) {
      this.#collected = [...this.collected, ...countCollected(garbage.rows, gone, timeText(clock.now()))];
      onChange();
    }
    const kept = garbage.rows.count - gone.length;
    const message = `garbage collection: ${gone.length} of ${garbage.rows.count} entries deleted${backup === undefined ? '' : `, backup in ${backup}`}`;
    tell({ kind: 'gc', deleted: gone.length, kept, message });
    return {
      entries: garbage.rows.count,
      stale: garbage.stale.length,
      deleted: gone.length,
      skipped: garbage.kept.length,
      ...(backup !== undefined && { backup }),
    };
  }
}
