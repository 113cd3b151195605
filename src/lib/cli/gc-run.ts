/** `ipc gc` between its flags and its report. */
import { rmSync } from 'node:fs';

import type { PlanItem } from '../change/plan-item.ts';
import { collectGarbage, type Garbage, type GarbageStep } from '../gc/collect-garbage.ts';
import { collectedLately, type DeleteLimit } from '../gc/delete-limit.ts';
import type { DesiredState } from '../gc/desired.ts';
import { countCollected, garbageBackup } from '../gc/garbage-records.ts';
import type { MapRows } from '../gc/map-rows.ts';
import { isOfNode } from '../gc/protection.ts';
import { explainPrefix } from '../ipcache/explain-prefix.ts';
import { entryWords } from '../output/entry-words.ts';
import type { PlanModel } from '../output/plan-view.ts';
import { readMachineFacts } from '../snapshot/machine-facts.ts';
import { type BackupFile, writeBackup } from '../state/backup.ts';
import { emptyCheckpoint } from '../state/checkpoint.ts';
import type { ChangeMap } from './change-map.ts';
import { type GcWords, gcWords, keptItem, staleItem } from './gc-items.ts';
import type { Log } from './log.ts';
import { pause } from './pause.ts';
import type { Progress } from './progress.ts';
import { type UndoContext, undoCommand } from './undo-command.ts';

export interface GcRunOptions {
  readonly desired: readonly DesiredState[];
  /** Addresses of nodes; empty: entries of every node. */
  readonly tunnels: readonly string[];
  readonly limit: DeleteLimit;
  readonly confirmMs: number;
  readonly rate: number | undefined;
  readonly dryRun: boolean;
  /** List also what a rule keeps. */
  readonly allItems: boolean;
  readonly undo: UndoContext;
  /** Of the last hour, from the state. */
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly logger: Log;
  readonly progress: Progress;
}

/** What deletes fall to is looked up for so many; a report of more is read by programs. */
export const MOST_EXPLAINED = 1000;
export const MOST_SHOWN = 50;

export class GcRun {
  readonly #target: ChangeMap;
  readonly #options: GcRunOptions;
  readonly #fallsTo = new Map<number, string>();
  readonly #words: GcWords;
  #backup: BackupFile | undefined;

  constructor(target: ChangeMap, options: GcRunOptions) {
    this.#target = target;
    this.#options = options;
    this.#words = gcWords(
      options.desired.map(({ name }) => name),
      options,
    );
  }

  async run(): Promise<PlanModel> {
    const { desired, tunnels, limit, confirmMs, rate, dryRun, now, signal, progress } = this.#options;
    const { map, layout } = this.#target.ipcache;
    const nodes = new Set(tunnels);
    const garbage = await collectGarbage({
      map,
      layout,
      desired,
      ...(nodes.size > 0 && { isSelected: (rows, row) => isOfNode(rows, row, nodes) }),
      limit,
      collected: this.#target.state?.checkpoint?.collected ?? [],
      confirmMs,
      rate,
      dryRun,
      now,
      signal,
      wait: (ms) => pause(ms, signal),
      onProgress: (done) => progress.update(done),
      onStep: (step) => this.#log(step),
      beforeDelete: async (rows, stale) => {
        await this.#explain(rows, stale);
        this.#backup = await this.#writeBackup(rows, stale);
      },
      afterDelete: async (rows, gone) => {
        const larger = this.#backup;
        this.#backup = await this.#writeBackup(rows, gone);
        if (larger !== undefined) rmSync(larger.path, { force: true });
      },
    });
    progress.end();
    const stale = garbage.stale.map(({ row }) => row);
    if (dryRun) await this.#explain(garbage.rows, stale);
    await this.#remember(garbage);
    return this.#model(garbage);
  }

  #writeBackup(rows: MapRows, stale: readonly number[]): Promise<BackupFile | undefined> {
    const { lock, facts } = this.#target;
    if (lock === undefined) throw new Error('gc deletes without a lock');
    const { id, pin, layout } = facts;
    const header = {
      time: new Date(this.#options.now()).toISOString(),
      command: 'gc',
      bootId: readMachineFacts().bootId ?? 'unknown',
      map: { id, layout, ...(pin !== undefined && { pin }) },
    };
    return writeBackup(lock, header, garbageBackup(rows, stale));
  }

  /** What answers for each prefix once all of it is gone. */
  async #explain(rows: MapRows, stale: readonly number[]): Promise<void> {
    if (stale.length > MOST_EXPLAINED) return;
    const { map, layoutChoice } = this.#target.ipcache;
    const going = new Set(stale.map((row) => rows.prefixText(row)));
    for (const row of stale) {
      const { canonical } = rows.entry(row);
      if (canonical === undefined) continue;
      const { chain } = await explainPrefix(map, layoutChoice, canonical, this.#options.signal);
      const next = chain.find(({ entry }) => !going.has(entry.prefix));
      if (next !== undefined) this.#fallsTo.set(row, entryWords(next.entry));
    }
  }

  /** The limit is summed over an hour, so what went is written down. */
  async #remember({ rows, stale }: Garbage): Promise<void> {
    const { state } = this.#target;
    const deleted = stale.filter(({ outcome }) => outcome === 'deleted').map(({ row }) => row);
    if (state === undefined || deleted.length === 0) return;
    const now = this.#options.now();
    const time = new Date(now).toISOString();
    const bootId = readMachineFacts().bootId ?? 'unknown';
    const before = state.checkpoint ?? emptyCheckpoint(state.pin, time, bootId);
    const collected = [...collectedLately(before.collected, now), ...countCollected(rows, deleted, time)];
    await state.write({ ...before, time, bootId, collected });
  }

  #model(garbage: Garbage): PlanModel {
    const { rows, stale, kept, withdrawn } = garbage;
    const { dryRun, allItems } = this.#options;
    const count = (...outcomes: readonly string[]) => stale.filter(({ outcome }) => outcomes.includes(outcome)).length;
    const deleted = count('deleted');
    const backup = this.#backup?.path;
    return {
      map: this.#target.facts,
      complete: count('left') === 0,
      changed: deleted > 0,
      dryRun,
      summary: {
        entries: rows.count,
        stale: stale.length,
        deleted,
        kept: rows.count - deleted,
        raced: count('raced'),
        withdrawn,
        skipped: kept.length,
        conflicts: count('changed'),
      },
      items: { length: stale.length + (allItems ? kept.length : 0), [Symbol.iterator]: () => this.#items(garbage) },
      warnings: [],
      shown: allItems ? undefined : MOST_SHOWN,
      backup,
      undo: backup === undefined ? undefined : undoCommand(backup, this.#target.facts, this.#options.undo),
    };
  }

  *#items({ rows, stale, kept }: Garbage): Generator<PlanItem, void> {
    for (const { row, outcome } of stale) {
      const entry = { prefix: rows.prefixText(row), identity: rows.identity(row), fallsTo: this.#fallsTo.get(row) };
      yield staleItem(entry, outcome, this.#words);
    }
    if (!this.#options.allItems) return;
    for (const { row, why } of kept) {
      yield keptItem({ prefix: rows.prefixText(row), identity: rows.identity(row) }, why);
    }
  }

  #log(step: GarbageStep): void {
    const { logger } = this.#options;
    if (step.kind === 'walked') logger.debug(`walked ${step.entries} entries`);
    else if (step.kind === 'delete') logger.debug(`deleting ${step.stale} entries`);
    else logger.info(`stale until now: ${step.stale}; reading again in ${step.ms / 1000} s`);
  }
}
