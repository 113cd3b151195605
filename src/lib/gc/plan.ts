/** Which rows are stale: pure, from what the map had and what the desired states said. */
import { setImmediate } from 'node:timers/promises';
import type { DesiredState } from './desired.ts';
import { kindOf, type MapRows } from './map-rows.ts';
import { type Protection, protectionOf } from './protection.ts';

export interface PlanInput {
  readonly rows: MapRows;
  /** A byte for each row: somebody wants it. */
  readonly wanted: Uint8Array;
  /** Who was asked; a row is judged only if all of them speak for its kind. */
  readonly desired: readonly DesiredState[];
  /** Absent: every row. */
  readonly isSelected?: ((row: number) => boolean) | undefined;
}

/** What a second reading leaves of a plan: rows that are still not wanted, and still of a kind that is judged. */
export function confirmPlan(plan: StalePlan, { rows, wanted, desired }: Omit<PlanInput, 'isSelected'>): StalePlan {
  const speaks = spokenKinds(desired);
  return { ...plan, stale: plan.stale.filter((row) => wanted[row] !== 1 && speaks(rows.kindCode(row))) };
}

/** Well under a millisecond. */
const TURN_ROWS = 4096;

export interface StalePlan {
  /** How many rows may be judged at all, by kind code: the whole of which the limit is a share. */
  readonly judged: ReadonlyMap<number, number>;
  /** Rows that nobody wants, in the map's order. */
  readonly stale: readonly number[];
  /** Rows that nobody wants and that are kept all the same. */
  readonly kept: readonly { readonly row: number; readonly why: Protection }[];
}

/** With turns for other work: `listen` plans beside everything else that it does. */
export async function planStale({ rows, wanted, desired, isSelected }: PlanInput): Promise<StalePlan> {
  const judged = new Map<number, number>();
  const stale: number[] = [];
  const kept: { row: number; why: Protection }[] = [];
  const speaks = spokenKinds(desired);
  // Neighbours are of one kind nearly always.
  let kind = -1;
  let isSpokenFor = false;
  let inARow = 0;
  const note = (): void => {
    if (inARow > 0) judged.set(kind, (judged.get(kind) ?? 0) + inARow);
    inARow = 0;
  };
  for (let row = 0; row < rows.count; row++) {
    if (row % TURN_ROWS === TURN_ROWS - 1) await setImmediate();
    const code = rows.kindCode(row);
    if (code !== kind) {
      note();
      kind = code;
      isSpokenFor = speaks(code);
    }
    const isJudged = isSpokenFor && rows.isPrefix(row);
    if (isJudged) inARow++;
    if (wanted[row] === 1 || isSelected?.(row) === false) continue;
    const why =
      protectionOf(rows, row) ??
      (isJudged ? undefined : kindOf(code).clusterId === 0 ? 'other-scope' : 'other-cluster');
    if (why === undefined) stale.push(row);
    else kept.push({ row, why });
  }
  note();
  return { judged, stale, kept };
}

/** Without anybody to ask, only entries of the local cluster may be judged. Asks once for each kind, not for each row. */
function spokenKinds(desired: readonly DesiredState[]): (code: number) => boolean {
  const known = new Map<number, boolean>();
  return (code) => {
    let speaks = known.get(code);
    if (speaks === undefined) {
      const { scope, family, clusterId } = kindOf(code);
      if (desired.length === 0) speaks = clusterId === 0;
      else speaks = desired.every((state) => state.speaksFor(scope, family, clusterId));
      known.set(code, speaks);
    }
    return speaks;
  };
}
