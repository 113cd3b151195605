/** What `ipc release` reports, from what it planned and did. */
import type { DeletePlan } from '../change/delete-entries.ts';
import type { PlanItem, PlanMap } from '../change/plan-item.ts';
import { entryWords } from '../output/entry-words.ts';
import type { FreedNumber, ReleaseModel } from '../output/release-view.ts';
import type { ReleasedPrefix, ReleasePlan } from '../restore/release-plan.ts';
import type { StateCheckpoint } from '../state/checkpoint.ts';
import type { PolicyMapCounter } from './policy-map-counts.ts';

export interface ReleaseOutcome {
  readonly map: PlanMap;
  readonly dryRun: boolean;
  readonly plan: ReleasePlan;
  readonly deletes: readonly DeletePlan[];
  /** Absent: it is only a plan. */
  readonly done?: ReleaseDone | undefined;
  readonly counter: PolicyMapCounter | undefined;
  /** Milliseconds since the epoch. */
  readonly releaseAt: number;
  /** RFC 3339; absent: they still stand. */
  readonly released?: string | undefined;
  /** No source of claims was named. */
  readonly withoutClaims: boolean;
  /** Sources whose claims do not count yet, and why. */
  readonly unsettled: readonly string[];
}

export interface ReleaseDone {
  /** Prefixes whose entry is gone. */
  readonly deleted: ReadonlySet<string>;
  readonly freed: ReadonlySet<number>;
  readonly backup?: string | undefined;
}

export function releaseModel(outcome: ReleaseOutcome): ReleaseModel {
  const { map, dryRun, plan, done, releaseAt, released } = outcome;
  const freed = freedNumbers(outcome);
  const going = new Map(outcome.deletes.map((one) => [one.prefix, one]));
  const counts = new Map(freed.map(({ identity, policyMaps }) => [identity, policyMaps]));
  const items = plan.prefixes.map((released) => {
    const { prefix, identity } = released.placeholder;
    const item = { prefix, identity, done: done !== undefined, policyMaps: counts.get(identity) };
    return { ...item, ...fateOf(released, going.get(prefix), outcome) };
  });
  return {
    map,
    complete: true,
    changed: done !== undefined && done.deleted.size > 0,
    dryRun,
    summary: summaryOf(items, freed),
    items,
    freed,
    warnings: warningsOf(outcome, freed),
    backup: done?.backup,
    releaseAt: new Date(releaseAt).toISOString(),
    released,
  };
}

function freedNumbers({ plan, done, counter }: ReleaseOutcome): FreedNumber[] {
  const freed = done === undefined ? plan.freed : [...done.freed];
  return freed.map((identity) => ({ identity, policyMaps: counter === undefined ? null : counter(identity) }));
}

function fateOf(
  released: ReleasedPrefix,
  found: DeletePlan | undefined,
  { done, counter }: ReleaseOutcome,
): Pick<PlanItem, 'action' | 'reason' | 'fallsTo' | 'policyMaps'> {
  const { prefix, identity } = released.placeholder;
  let { reason } = released;
  if (reason === 'unclaimed' && done !== undefined && !done.deleted.has(prefix))
    reason = found?.stored === undefined ? 'gone' : 'changed';
  const words = { reason: REASONS[reason](released) };
  if (reason !== 'unclaimed') return { ...words, action: reason === 'gone' ? 'skip' : 'keep' };
  const fallsTo = found?.fallsTo === undefined ? undefined : entryWords(found.fallsTo);
  return { ...words, action: 'delete', fallsTo, policyMaps: counter?.(identity) };
}

const REASONS: Readonly<Record<ReleasedPrefix['reason'], (released: ReleasedPrefix) => string>> = {
  claimed: ({ by }) => `claimed: by ${by}`,
  unclaimed: () => 'unclaimed: no source has it',
  unknown: () => 'unknown: nobody says whether it is still wanted; the entry stays, its reservation ends',
  gone: () => 'gone: it is not in the map any more',
  changed: () => 'changed: the map has another entry there by now, which stays',
};

function summaryOf(items: readonly PlanItem[], freed: readonly FreedNumber[]): Record<string, number> {
  const count = (word: ReleasedPrefix['reason']): number =>
    items.filter(({ reason }) => reason.startsWith(`${word}:`)).length;
  return {
    placeholders: items.length,
    claimed: count('claimed'),
    unknown: count('unknown'),
    gone: count('gone'),
    changed: count('changed'),
    deleted: count('unclaimed'),
    freed: freed.length,
  };
}

function warningsOf({ plan, withoutClaims, unsettled }: ReleaseOutcome, freed: readonly FreedNumber[]): string[] {
  const warnings: string[] = [...unsettled];
  if (plan.prefixes.length > 0 && withoutClaims)
    warnings.push('no source of claims was named: nothing that is in the map is deleted, only its reservation ends');
  const used = freed.filter(({ policyMaps }) => policyMaps !== 0);
  if (used.length > 0) {
    const some = used.slice(0, 5).map(({ identity, policyMaps }) => `${identity} (${policyMaps ?? 'unknown'})`);
    warnings.push(
      `policy maps have numbers that are freed: ${some.join(', ')}${used.length > 5 ? ', …' : ''} (in how many)`,
    );
  }
  return warnings;
}

/** When the grace period is over, in milliseconds since the epoch. @param graceMs what the user or the sources say */
export function dueAt({ restored, time }: StateCheckpoint, graceMs: number | undefined): number {
  return Date.parse(restored?.graceFrom ?? restored?.time ?? time) + (graceMs ?? restored?.graceMs ?? 0);
}
