/** `ipc set` between its flags and its report. */

import type { PlanItem } from '../change/plan-item.ts';
import { applyPutBack, planPutBack } from '../change/put-back.ts';
import { applySet, planSet, type SetPlan, type SetRequest, setWarnings } from '../change/set-entry.ts';
import { decodeEntry } from '../ipcache/entry.ts';
import type { PlanModel } from '../output/plan-view.ts';
import type { OwnerFlags } from '../owner/check-owner.ts';
import { readBackup } from '../state/read-backup.ts';
import type { ChangeMap } from './change-map.ts';

export interface SetRunOptions extends OwnerFlags {
  readonly dryRun: boolean;
  readonly allowGap: boolean;
  readonly signal: AbortSignal;
}

/** Writes one entry, or finds that there is nothing to write. */
export async function runSet(target: ChangeMap, request: SetRequest, options: SetRunOptions): Promise<PlanModel> {
  const { ipcache } = target;
  const plan = await planSet(ipcache, request, options.signal);
  const changes = plan.action !== 'keep';
  if (changes) target.requireOwner('set', options);
  const done = changes && !options.dryRun;
  if (done) applySet(ipcache.map, plan, { must: request.must, allowGap: options.allowGap });
  return {
    map: target.facts,
    complete: true,
    changed: done,
    dryRun: options.dryRun,
    summary: {
      added: plan.action === 'add' ? 1 : 0,
      updated: plan.action === 'update' ? 1 : 0,
      kept: changes ? 0 : 1,
    },
    items: [setItem(plan, done)],
    warnings: changes ? setWarnings(plan) : [],
  };
}

/** Puts back what a backup has and the map lacks. */
export async function runPutBack(target: ChangeMap, file: string, options: SetRunOptions): Promise<PlanModel> {
  const { map, layout } = target.ipcache;
  const plan = await planPutBack(map, readBackup(file), file);
  const missing = plan.filter(({ state }) => state === 'missing');
  if (missing.length > 0) target.requireOwner('set', options);
  const items: PlanItem[] = [];
  let added = 0;
  for (const one of plan) {
    options.signal.throwIfAborted();
    const done = one.state === 'missing' && !options.dryRun && (await applyPutBack(map, one));
    if (done) added++;
    const { key, before: value } = one.entry;
    const entry = decodeEntry(layout, { keys: key, values: value });
    const shared = { prefix: entry.prefix, identity: entry.identity, key, value };
    if (one.state === 'exists') items.push({ ...shared, action: 'keep', reason: 'there-already', done: false });
    else items.push({ ...shared, action: 'add', reason: 'in-backup', done });
  }
  return {
    map: target.facts,
    complete: options.dryRun || added === missing.length,
    changed: added > 0,
    dryRun: options.dryRun,
    summary: { added: options.dryRun ? missing.length : added, updated: 0, kept: plan.length - missing.length },
    items,
    warnings: [],
  };
}

const REASONS: Readonly<Record<SetPlan['action'], string>> = {
  add: 'new',
  update: 'differs',
  keep: 'equal',
};

function setItem({ action, prefix, entry, before, key, value }: SetPlan, done: boolean): PlanItem {
  return { action, prefix, identity: entry.identity, reason: REASONS[action], before, key, value, done };
}
