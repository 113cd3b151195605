/** What `ipc restore` reports, from what it planned and did. */

import type { PlanItem } from '../change/plan-item.ts';
import { IncompleteError, type RefusedError, type ToolError } from '../errors.ts';
import { canonicalLabels } from '../identity/label-resolver.ts';
import type { RestoreModel } from '../output/restore-view.ts';
import type { Ownership } from '../owner/decide-owner.ts';
import type { AllocatorFilePlan } from '../restore/allocator-file.ts';
import { guessedLabelTexts } from '../restore/guessed-labels.ts';
import { isAdded, type PlannedEntry } from '../restore/planned-entry.ts';
import { type PolicyMapCounter, policyMapCounter } from './policy-map-counts.ts';
import type { Prepared, RestoreRunOptions } from './restore-run.ts';
import type { Written } from './restore-write.ts';

export interface RestoreOutcome {
  readonly prepared: Prepared;
  readonly written: Written;
  readonly ownership: Ownership;
  readonly refusal: RefusedError | undefined;
  /** The map that was written, or is there; absent for one that would be made. */
  readonly mapId: number | undefined;
}

export interface RestoreResult {
  readonly model: RestoreModel;
  /** To be thrown after the report. */
  readonly failure?: ToolError | undefined;
}

/** The counts, as the report and the state have them. */
export function summaryOf({ prepared, written, refusal }: RestoreOutcome): Record<string, number> {
  const { reading, plan, known } = prepared;
  const counts = { add: 0, update: 0, keep: 0, conflict: 0 };
  const kinds = { known: 0, guessed: 0, unknown: 0, ingress: 0 };
  let added = 0;
  for (const entry of plan.entries) {
    counts[entry.action]++;
    kinds[entry.kind]++;
    if (isAdded(entry)) added++;
  }
  const failed = written.failures.length;
  const failedUpdates = written.failures.filter(({ entry }) => entry?.action === 'update').length;
  const failedAdds = written.failures.filter(({ entry }) => entry !== undefined && isAdded(entry)).length;
  const skipped = [...reading.skipped.values()].reduce((sum, count) => sum + count, 0);
  return {
    entries: reading.entries,
    kept: counts.keep,
    added: refusal === undefined ? added - failedAdds : 0,
    updated: refusal === undefined ? counts.update - failedUpdates : 0,
    carried: written.carried,
    skipped,
    conflicts: counts.conflict,
    failed: refusal === undefined ? failed : added + counts.update,
    ...kinds,
    withheld: plan.withheld.size,
    rescoped: plan.rescoped.length,
    labelsKnown: known.size,
  };
}

/** Prints nothing: makes the model, counts policy maps, and says what the run failed with. */
export async function restoreResult(
  outcome: RestoreOutcome,
  handOver: AllocatorFilePlan | undefined,
  options: RestoreRunOptions,
): Promise<RestoreResult> {
  const { prepared, written, ownership, refusal, mapId } = outcome;
  const { flags, shared } = options;
  const { target, source, reading } = prepared;
  const counter = await policyMapCounter(changedNumbers(outcome), { ...options, bpffs: shared.bpffs });
  const summary = summaryOf(outcome);
  const failure = refusal ?? failureOf(outcome, summary);
  const { programs } = ownership.evidence;
  const layout = (target.made?.layout ?? target.present?.layout)?.name ?? 'v2';
  const model: RestoreModel = {
    map: {
      ...(mapId !== undefined && { id: mapId }),
      pin: target.pin,
      layout,
      owner: ownership.owner,
      programs: programs.length === 0 && ownership.evidence.unseen.length > 0 ? null : programs.length,
    },
    from:
      source.snapshot === undefined
        ? {
            ...(source.ipcache && {
              id: source.ipcache.map.info.id,
              pin: source.ipcache.map.path,
              layout: source.outgoing.map.layout.name,
            }),
          }
        : { snapshot: source.snapshot.file, layout: source.outgoing.map.layout.name },
    ...(target.made !== undefined && { made: madeFacts(target) }),
    complete:
      reading.complete && (prepared.present?.complete ?? true) && summary.conflicts === 0 && summary.failed === 0,
    changed: written.changed,
    dryRun: flags['dry-run'],
    summary,
    skippedByRule: Object.fromEntries(reading.skipped),
    items: items(outcome, counter, flags),
    warnings: warnings(outcome),
    ...(handOver !== undefined && {
      allocatorState: {
        path: handOver.path,
        identities: handOver.records.length,
        added: handOver.added,
        ...(handOver.moveAside !== undefined && { movedTo: handOver.moveAside }),
      },
    }),
    backup: written.backup,
  };
  return { model, failure };
}

function madeFacts({ kind, made }: Prepared['target']) {
  return {
    how: kind === 'recreate' ? ('recreated' as const) : ('new' as const),
    maxEntries: made?.spec.maxEntries ?? 0,
    flags: made?.spec.flags ?? 0,
  };
}

/** More entries that got what they had are counted, not listed. */
const MOST_PLAIN = 1000;

function plainOf(entries: readonly PlannedEntry[]): number {
  return entries.reduce((sum, entry) => sum + (isPlain(entry) ? 1 : 0), 0);
}

/** An entry that keeps or gets its number, and of which there is no more to say than that its labels are not known. */
function isPlain({ action, kind }: PlannedEntry): boolean {
  return kind !== 'ingress' && (action === 'add' || (action === 'keep' && kind !== 'known'));
}

/** Numbers that some prefix loses or does not get: whoever has them in a policy map is hurt. */
function changedNumbers({ prepared, written, refusal }: RestoreOutcome): Set<number> {
  const failed = new Set(written.failures.map(({ entry }) => entry));
  const ids = new Set<number>();
  for (const entry of prepared.plan.entries)
    if (failed.has(entry) || isChanged(entry, refusal !== undefined)) ids.add(entry.was ?? entry.identity);
  for (const { entry, identity } of written.failures)
    if (entry === undefined && identity !== undefined) ids.add(identity);
  return ids;
}

/** Whether the prefix is not left with the number that it had. */
function isChanged(entry: PlannedEntry, isRefused: boolean): boolean {
  const { action } = entry;
  return action === 'update' || action === 'conflict' || (isRefused && isAdded(entry));
}

function items(
  { prepared, written, refusal }: RestoreOutcome,
  counter: PolicyMapCounter | undefined,
  flags: RestoreRunOptions['flags'],
): PlanItem[] {
  const failed = new Map(written.failures.map((failure) => [failure.entry, failure.reason]));
  const isRun = !flags['dry-run'] && refusal === undefined;
  const isCounted = (entry: PlannedEntry): boolean => failed.has(entry) || isChanged(entry, refusal !== undefined);
  const list: PlanItem[] = [];
  const listsPlain = flags['all-items'] || plainOf(prepared.plan.entries) <= MOST_PLAIN;
  for (const entry of prepared.plan.entries) {
    if (!flags['all-items'] && entry.action === 'keep' && entry.kind === 'known') continue;
    if (!listsPlain && isPlain(entry) && !failed.has(entry)) continue;
    list.push(itemOf(entry, prepared, isRun, failed.get(entry), isCounted(entry) ? counter : undefined));
  }
  for (const { prefix, identity, entry, reason } of written.failures) {
    if (entry !== undefined) continue;
    const policyMaps = identity === undefined ? undefined : counter?.(identity);
    list.push({ action: 'conflict', prefix, identity, reason, policyMaps, done: false });
  }
  for (const { prefix, identity, reason } of prepared.skipped)
    list.push({ action: 'skip', prefix, identity, reason, done: false });
  return list;
}

function itemOf(
  entry: PlannedEntry,
  prepared: Prepared,
  isRun: boolean,
  failure: string | undefined,
  counter: PolicyMapCounter | undefined,
): PlanItem {
  const { prefix, identity, action, was } = entry;
  return {
    action,
    prefix,
    identity,
    reason: failure ?? reasonOf(entry),
    policyMaps: counter?.(was ?? identity),
    ...labelFields(entry, prepared),
    done: isRun && failure === undefined && (isAdded(entry) || action === 'update' || action === 'keep'),
  };
}

function labelFields(
  { prefix, labels, labelsFrom }: PlannedEntry,
  { known }: Prepared,
): Pick<PlanItem, 'labels' | 'labelsFrom'> {
  if (labels !== undefined) return { labels: canonicalLabels(labels), labelsFrom };
  return labelsFrom === 'guessed' ? { labels: guessedLabelTexts(prefix, known.options), labelsFrom } : {};
}

function reasonOf({ action, kind, reason, other, was }: PlannedEntry): string {
  switch (reason) {
    case 'renumbered':
      return `renumbered: the map has ${other}, and entries that are there keep their number`;
    case 'number-reused':
      return 'number-reused: the number means something else by now';
    case 'would-lose-tunnel':
      return 'would-lose-tunnel: a wider entry has a tunnel or a key that this one would hide';
    case 'other-number-in-checkpoint':
      return `other-number-in-checkpoint: the checkpoint has ${other} for these labels`;
    case 'does-not-fit':
      return 'does-not-fit: the layout has no place for it';
    case 'prefer-checkpoint':
      return `prefer-checkpoint: was ${was}`;
    default:
      if (kind === 'ingress') return 'ingress';
      return action === 'add' ? `missing, labels ${kind}` : `labels ${kind}`;
  }
}

function warnings({ prepared: { reading, present, plan, known, allocator } }: RestoreOutcome): string[] {
  const list: string[] = [];
  if (!reading.complete) list.push(`the source was not read to its end: ${reading.reason ?? 'cut off'}`);
  if (present?.complete === false) list.push(`the target was not read to its end: ${present.reason ?? 'cut off'}`);
  if (allocator.state === 'damaged') list.push(`${allocator.path} is damaged and was not used`);
  const shared = new Set(plan.entries.filter(({ kind }) => kind === 'unknown').map(({ identity }) => identity)).size;
  const plain = plainOf(plan.entries);
  if (plain > MOST_PLAIN) list.push(`${plain} entries that got their number are not listed; --all-items lists them`);
  if (shared > 0)
    list.push(`shared numbers whose labels are unknown: ${shared}; only a checkpoint or a snapshot has them`);
  if (plan.rescoped.length > 0) {
    list.push(
      `rescoped: labels of ${plan.rescoped.slice(0, 5).join(', ')}${plan.rescoped.length > 5 ? ', …' : ''} belong to other numbers by now; they are not restored`,
    );
  }
  if (known.repeated.length > 0)
    list.push(
      `the checkpoint has ${known.repeated.slice(0, 5).join(', ')} twice with different labels; the first ones count`,
    );
  if (known.worldMoved > 0)
    list.push(
      `${known.worldMoved} identities have the world label of other families than are on now; their numbers stay`,
    );
  return list;
}

function failureOf({ prepared }: RestoreOutcome, summary: Record<string, number>): ToolError | undefined {
  const { target, reading, present } = prepared;
  const parts: string[] = [];
  if ((summary.conflicts ?? 0) > 0) parts.push(`${summary.conflicts} conflicts`);
  if ((summary.failed ?? 0) > 0) parts.push(`${summary.failed} entries were not written`);
  if (!reading.complete) parts.push('the source was not read to its end');
  if (present?.complete === false) parts.push('the target was not read to its end');
  if (parts.length === 0) return undefined;
  return new IncompleteError(`Cannot restore everything into ${target.pin}: ${parts.join(', ')}`, {
    code: 'RESTORE_INCOMPLETE',
    hint: 'the report names every entry that did not get its number, with the reason',
    operands: { path: target.pin, conflicts: summary.conflicts, failed: summary.failed },
  });
}
