/** Garbage collection of the loop: what the map has and the cache has not, once every source has said everything. */
import { setTimeout as sleep } from 'node:timers/promises';
import { FailedError, RefusedError, ToolError } from '../errors.ts';
import { collectGarbage, type Garbage } from '../gc/collect-garbage.ts';
import { collectedLately, DEFAULT_LIMIT, type DeleteLimit } from '../gc/delete-limit.ts';
import { countCollected, garbageBackup } from '../gc/garbage-records.ts';
import { isOfNode } from '../gc/protection.ts';
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
  readonly raced: number;
  /** Nobody's at first, and then changed, gone, or somebody's before anything was deleted. */
  readonly withdrawn: number;
  readonly conflicts: number;
  /** Stale, and not deleted because the run was ended. */
  readonly left: number;
  readonly backup?: string;
}

export interface CollectorOptions {
  readonly limit?: DeleteLimit | undefined;
  readonly dryRun?: boolean | undefined;
  readonly confirmMs?: number | undefined;
  /** Deletes a second. */
  readonly rate?: number | undefined;
  /** Only entries of nodes with these addresses; empty: all. */
  readonly tunnels?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Collected {
  readonly run: CollectorRun;
  readonly garbage: Garbage;
}

/** Longer than the interval of anybody's checkpoint. */
const CONFIRM_MS = 15_000;

export class Collector {
  readonly #setup: CollectorSetup;
  readonly #stop = new AbortController();
  #collected: readonly CollectedState[];
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<Collected> | undefined;
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
  async run(): Promise<CollectorRun> {
    return (await (this.#running ?? this.#begin({}))).run;
  }

  /** As `run`, but always one of its own, after the one that is under way. */
  async collect(options: CollectorOptions): Promise<Collected> {
    while (this.#running !== undefined) await this.#running.catch(() => {});
    return this.#begin(options);
  }

  #begin(options: CollectorOptions): Promise<Collected> {
    const running = this.#collect(options)
      .catch((error: unknown) => {
        this.#counts.failures++;
        if (!(error instanceof ToolError)) throw error;
        if (!this.#stop.signal.aborted) this.#setup.setup.tell({ kind: 'gc-failed', error });
        throw error;
      })
      .finally(() => {
        this.#running = undefined;
      });
    this.#running = running;
    return running;
  }

  async #collect({
    limit = DEFAULT_LIMIT,
    dryRun = false,
    confirmMs = CONFIRM_MS,
    rate,
    tunnels = [],
    signal: ended,
  }: CollectorOptions): Promise<Collected> {
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
    const signal = ended === undefined ? this.#stop.signal : AbortSignal.any([this.#stop.signal, ended]);
    const nodes = new Set(tunnels);
    const garbage = await collectGarbage({
      map,
      layout: follower.layout,
      desired: [desired],
      limit,
      collected: this.#collected,
      confirmMs,
      rate,
      ...(nodes.size > 0 && { isSelected: (rows, row) => isOfNode(rows, row, nodes) }),
      now: clock.now,
      dryRun,
      signal,
      wait: (ms) => sleep(ms, undefined, { signal }).catch(() => {}),
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
    const count = (wanted: string): number => garbage.stale.filter(({ outcome }) => outcome === wanted).length;
    const run = {
      entries: garbage.rows.count,
      stale: garbage.stale.length,
      deleted: gone.length,
      skipped: garbage.kept.length,
      raced: count('raced'),
      withdrawn: garbage.withdrawn,
      conflicts: count('changed'),
      left: count('left'),
      ...(backup !== undefined && { backup }),
    };
    return { run, garbage };
  }
}
