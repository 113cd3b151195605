/**
 * Garbage collection from the walk to the last look: the map is walked before anything is asked, what is missing must be
 * missing from two complete readings, goes only as it was walked, and comes back when a third reading has it again.
 */
import type { BpfMap } from '../bpf/map.ts';
import { RefusedError } from '../errors.ts';
import type { Layout } from '../ipcache/layout.ts';
import type { SourceRecord } from '../sources/source.ts';
import type { CollectedState } from '../state/checkpoint.ts';
import { deleteRows, type Pace, putBackRows, type RowOutcome, stillThere } from './apply.ts';
import { collectedLately, type DeleteLimit, requireWithinLimit } from './delete-limit.ts';
import type { DesiredState } from './desired.ts';
import { type MapRows, readMapRows } from './map-rows.ts';
import { confirmPlan, planStale, type StalePlan } from './plan.ts';
import { StrongestRecords } from './wanted-value.ts';

/**
 * More than so many are not looked at once more before the backup is written: each is compared right before its delete
 * anyway, and the backup is written again when some of them stayed.
 */
const MANY_STALE = 1000;

export interface GarbageOptions extends Pace {
  readonly map: BpfMap;
  readonly layout: Layout;
  /** An entry is stale when none of them wants it; empty only with `isSelected`: the user says it is gone. */
  readonly desired: readonly DesiredState[];
  /** Narrows what may go. */
  readonly isSelected?: ((rows: MapRows, row: number) => boolean) | undefined;
  readonly limit: DeleteLimit;
  /** What was deleted before, for the limit. */
  readonly collected: readonly CollectedState[];
  /** Between the two readings. */
  readonly confirmMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly dryRun: boolean;
  /** Called once it is known what goes, before the first entry does: refuses, or keeps what is deleted. */
  readonly beforeDelete: (rows: MapRows, stale: readonly number[]) => Promise<void>;
  /** Called when less went than `beforeDelete` was told, with what is gone and stays so. */
  readonly afterDelete?: ((rows: MapRows, gone: readonly number[]) => Promise<void>) | undefined;
  /** Something the user waits for. */
  readonly onStep?: ((step: GarbageStep) => void) | undefined;
}

export type GarbageStep =
  | { readonly kind: 'walked'; readonly entries: number }
  | { readonly kind: 'confirm'; readonly stale: number; readonly ms: number }
  | { readonly kind: 'delete'; readonly stale: number };

export interface Garbage {
  readonly rows: MapRows;
  /** Rows that are stale, and what came of each; in a dry run none is deleted. */
  readonly stale: readonly { readonly row: number; readonly outcome: RowOutcome | 'planned' | 'raced' }[];
  readonly kept: StalePlan['kept'];
  /** Rows that nobody wanted at first, but whose entry changed, went, or was wanted again before anything was deleted. */
  readonly withdrawn: number;
}

/**
 * @throws {IncompleteError} the walk did not cover the map
 * @throws {UnreachableError} a reading failed: nothing was deleted, or all of it was put back
 * @throws {RefusedError} SOURCE_EMPTY, TOO_MANY, TOO_MANY_OF_KIND: nothing was deleted
 */
export async function collectGarbage(options: GarbageOptions): Promise<Garbage> {
  const { map, layout, signal, onStep, dryRun } = options;
  for (const state of options.desired) state.prepare?.(layout);
  const rows = await readMapRows(map, layout, signal);
  onStep?.({ kind: 'walked', entries: rows.count });
  const plan = await confirmStale(options, rows);
  const stale = plan.stale.length > MANY_STALE && !dryRun ? plan.stale : await stillThere(map, rows, plan.stale);
  const result = { rows, kept: plan.kept, withdrawn: plan.first - stale.length };
  if (stale.length === 0) return { ...result, stale: [] };
  if (dryRun) return { ...result, stale: stale.map((row) => ({ row, outcome: 'planned' })) };
  await options.beforeDelete(rows, stale);
  onStep?.({ kind: 'delete', stale: stale.length });
  const outcomes = await deleteRows(map, rows, stale, options);
  const gone = stale.filter((_, i) => outcomes[i] === 'deleted');
  const raced = await putBackWanted(options, rows, gone);
  if (gone.length - raced.size < stale.length)
    await options.afterDelete?.(
      rows,
      gone.filter((row) => !raced.has(row)),
    );
  return {
    ...result,
    stale: stale.map((row, i) => ({ row, outcome: raced.has(row) ? 'raced' : (outcomes[i] ?? 'left') })),
  };
}

/** What is stale in both readings. @throws {RefusedError} one is empty, or says that too much is stale */
async function confirmStale(options: GarbageOptions, rows: MapRows): Promise<StalePlan & { readonly first: number }> {
  const { map, desired, isSelected, confirmMs, wait, signal, onStep } = options;
  const wanted = await readWanted(desired, rows, map.label);
  const select = isSelected && ((row: number) => isSelected(rows, row));
  const first = await planStale({ rows, wanted, desired, isSelected: select });
  const counted = { ...first, first: first.stale.length };
  if (first.stale.length === 0 || desired.length === 0) return counted;
  requireLimit(options, rows, first);
  onStep?.({ kind: 'confirm', stale: first.stale.length, ms: confirmMs });
  await wait(confirmMs);
  signal?.throwIfAborted();
  if (desired.every((state) => state.isUnchanged?.() === true)) return counted;
  const second = confirmPlan(first, { rows, wanted: await readWanted(desired, rows, map.label), desired });
  return { ...second, first: first.stale.length };
}

function requireLimit(
  { map, limit, collected, now }: GarbageOptions,
  rows: MapRows,
  { judged, stale }: StalePlan,
): void {
  requireWithinLimit({ rows, judged, stale, limit, collected: collectedLately(collected, now()), map: map.label });
}

/** @throws {RefusedError} SOURCE_EMPTY: more likely not filled yet than a node without any entry */
async function readWanted(
  desired: readonly DesiredState[],
  rows: MapRows,
  map: string,
  onRecord?: (row: number, record: SourceRecord) => void,
): Promise<Uint8Array> {
  const wanted = new Uint8Array(rows.count);
  for (const state of desired) {
    const visit = (row: number, record?: SourceRecord): void => {
      wanted[row] = 1;
      if (record !== undefined) onRecord?.(row, record);
    };
    const records = await state.read(rows, visit, onRecord !== undefined);
    if (records > 0) continue;
    throw new RefusedError(`Cannot collect garbage in ${map}: ${state.name} is empty, and all of the map would go`, {
      code: 'SOURCE_EMPTY',
      hint: 'an empty desired state is more likely not filled yet than right; nothing was deleted, or all of it was put back',
      operands: { source: state.name },
    });
  }
  return wanted;
}

/** The third reading. @returns rows that were put back @throws what the reading throws, once everything is back */
async function putBackWanted(options: GarbageOptions, rows: MapRows, gone: readonly number[]): Promise<Set<number>> {
  const { map, desired } = options;
  if (gone.length === 0 || desired.length === 0) return new Set();
  if (desired.every((state) => state.isUnchanged?.() === true)) return new Set();
  const records = new StrongestRecords(new Set(gone));
  let wanted: Uint8Array;
  try {
    wanted = await readWanted(desired, rows, map.label, (row, record) => records.add(row, record));
  } catch (error) {
    // Whether all of it was garbage cannot be known any more.
    await putBackRows(map, rows, gone);
    throw error;
  }
  const again = gone.filter((row) => wanted[row] === 1);
  await putBackRows(map, rows, again, (row) => records.value(rows, row));
  return new Set(again);
}
