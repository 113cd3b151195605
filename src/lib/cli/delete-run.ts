/** `ipc delete` between its flags and its report. */
import { applyDelete, type DeletePlan, type DeleteRequest, planDelete } from '../change/delete-entries.ts';
import type { PlanItem } from '../change/plan-item.ts';
import { IncompleteError } from '../errors.ts';
import { entryWords } from '../output/entry-words.ts';
import type { PlanModel } from '../output/plan-view.ts';
import type { OwnerFlags } from '../owner/check-owner.ts';
import type { ChangeMap } from './change-map.ts';

export interface DeleteRunOptions extends OwnerFlags {
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
}

export interface DeleteResult {
  readonly model: PlanModel;
  /** To be thrown after the report. */
  readonly failure?: IncompleteError | undefined;
}

/** Deletes the entries, or none of them when one is missing or has another identity than expected. */
export async function runDelete(
  target: ChangeMap,
  request: DeleteRequest,
  options: DeleteRunOptions,
): Promise<DeleteResult> {
  const { ipcache } = target;
  const plans = await planDelete(ipcache, request, options.signal);
  const going = plans.filter(({ stored }) => stored !== undefined);
  if (going.length > 0) target.requireOwner('delete', options);
  const items: PlanItem[] = [];
  let deleted = 0;
  for (const plan of plans) {
    const done = plan.stored !== undefined && !options.dryRun && (await applyDelete(ipcache.map, plan));
    if (done) deleted++;
    items.push(deleteItem(plan, done));
  }
  const changed = options.dryRun ? 0 : going.length - deleted;
  const model: PlanModel = {
    map: target.facts,
    complete: changed === 0,
    changed: deleted > 0,
    dryRun: options.dryRun,
    summary: { deleted: options.dryRun ? going.length : deleted, skipped: plans.length - going.length },
    items,
    warnings: [],
  };
  return changed === 0 ? { model } : { model, failure: raced(target, changed) };
}

function deleteItem({ prefix, stored, fallsTo }: DeletePlan, done: boolean): PlanItem {
  if (stored === undefined) return { action: 'skip', prefix, reason: 'not-found', done: false };
  const { entry, key, value } = stored;
  const reason = 'asked-for';
  const falls = fallsTo === undefined ? undefined : entryWords(fallsTo);
  return {
    action: 'delete',
    prefix,
    identity: entry.identity,
    reason,
    fallsTo: falls,
    before: entry,
    key,
    value,
    done,
  };
}

function raced({ ipcache: { map } }: ChangeMap, count: number): IncompleteError {
  return new IncompleteError(`Cannot delete all from ${map.label}: ${count} changed while they were looked at`, {
    code: 'CHANGED_MEANWHILE',
    hint: 'the report names them; look at them again before deleting them',
    operands: { changed: count },
  });
}
