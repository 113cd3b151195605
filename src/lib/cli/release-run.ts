/** `ipc release` between its flags and its report. */

import { applyDelete, type DeletePlan, planDelete } from '../change/delete-entries.ts';
import type { PlanItem } from '../change/plan-item.ts';
import { NotFoundError } from '../errors.ts';
import { parsePrefix } from '../net/prefix.ts';
import { entryWords } from '../output/entry-words.ts';
import type { ReleaseModel } from '../output/release-view.ts';
import { type Claims, readClaims } from '../restore/claims.ts';
import { readMapNumbers } from '../restore/map-numbers.ts';
import { planRelease, type ReleasedPrefix, type ReleasePlan } from '../restore/release-plan.ts';
import { releasedState } from '../restore/released-state.ts';
import { readMachineFacts } from '../snapshot/machine-facts.ts';
import { openSource } from '../sources/open-source.ts';
import type { Source } from '../sources/source.ts';
import { parseSourceRefs } from '../sources/source-ref.ts';
import { writeBackup } from '../state/backup.ts';
import type { StateCheckpoint } from '../state/checkpoint.ts';
import { readCheckpoint } from '../state/read-checkpoint.ts';
import { type ChangeMap, type ChangeMapOptions, changeMap } from './change-map.ts';
import { pause } from './pause.ts';
import { type PolicyMapCounter, policyMapCounter } from './policy-map-counts.ts';

export interface ReleaseRunOptions extends Omit<ChangeMapOptions, 'withState'> {
  readonly graceMs: number | undefined;
  readonly wait: boolean;
  readonly releaseNow: boolean;
  readonly claims: readonly string[];
  readonly timeoutMs: number;
  readonly stdin: () => AsyncIterable<Uint8Array>;
  readonly uid: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** With a kvstore as source of claims, as the agent waits. */
const KVSTORE_GRACE_MS = 600_000;
const COUNTDOWN_MS = 10_000;

export class ReleaseRun {
  readonly #options: ReleaseRunOptions;

  constructor(options: ReleaseRunOptions) {
    this.#options = options;
  }

  async run(): Promise<ReleaseModel> {
    const { shared, wait, releaseNow, signal, now } = this.#options;
    const { claims } = this.#options;
    // A reference may have commas of its own, at which the flag was cut.
    const refs = claims.length === 0 ? [] : parseSourceRefs(claims.join(','));
    const sources = refs.map((ref) => openSource(ref, { ...this.#options, strict: true }));
    try {
      const remembered = requireState(shared['state-dir'], readCheckpoint(shared['state-dir']));
      const isKvstore = refs.some(({ target }) => target.kind === 'etcd');
      const releaseAt = dueAt(remembered, this.#options.graceMs ?? (isKvstore ? KVSTORE_GRACE_MS : undefined));
      const isOver = remembered.restored?.released !== undefined || remembered.placeholders.length === 0;
      if (wait && !releaseNow && !isOver) await this.#countDown(releaseAt - now());
      signal.throwIfAborted();
      using target = await changeMap({
        ...this.#options,
        shared: { ...shared, map: shared.map ?? remembered.pin },
        withState: true,
      });
      const state = target.state?.checkpoint ?? remembered;
      const isDue = releaseNow || wait || now() >= releaseAt;
      return await this.#release(target, state, { releaseAt, isDue, sources });
    } finally {
      for (const source of sources) await source[Symbol.asyncDispose]();
    }
  }

  async #release(
    target: ChangeMap,
    state: StateCheckpoint,
    {
      releaseAt,
      isDue,
      sources,
    }: { readonly releaseAt: number; readonly isDue: boolean; readonly sources: readonly Source[] },
  ): Promise<ReleaseModel> {
    const { dryRun, signal, timeoutMs, now } = this.#options;
    if (state.placeholders.length > 0) target.requireOwner('release');
    const claims = await this.#claims(sources, { signal, timeoutMs });
    const wanted = new Set(state.placeholders.map(({ prefix }) => prefix));
    const plan = planRelease(state, await readMapNumbers(target.ipcache, wanted, signal), claims);
    const going = plan.prefixes.filter(({ reason }) => reason === 'unclaimed');
    const deletes = await planDelete(
      target.ipcache,
      { prefixes: going.map(({ placeholder }) => parsePrefix(placeholder.prefix)), ignoreNotFound: true },
      signal,
    );
    const counter = await policyMapCounter(new Set(going.map(({ placeholder }) => placeholder.identity)), {
      bpffs: this.#options.shared.bpffs,
      tcBpfMnt: this.#options.tcBpfMnt,
      logger: this.#options.logger,
      signal,
    });
    const isRun = isDue && !dryRun && target.state !== undefined;
    const done = isRun
      ? await this.#apply(target, state, plan, deletes)
      : { deleted: new Set<string>(), backup: undefined };
    return {
      map: target.facts,
      complete: true,
      changed: done.deleted.size > 0,
      dryRun,
      summary: summaryOf(plan, isRun ? done.deleted.size : going.length),
      items: this.#items(plan, deletes, done.deleted, isRun, counter),
      warnings: warningsOf(state, claims),
      backup: done.backup,
      releaseAt: new Date(releaseAt).toISOString(),
      released: isRun ? new Date(now()).toISOString() : state.restored?.released,
    };
  }

  async #claims(
    sources: readonly Source[],
    options: { readonly signal: AbortSignal; readonly timeoutMs: number },
  ): Promise<Claims | undefined> {
    return sources.length === 0 ? undefined : readClaims(sources, options);
  }

  /** Entries first, then numbers: at no moment is a number free that an entry still has. */
  async #apply(target: ChangeMap, state: StateCheckpoint, plan: ReleasePlan, deletes: readonly DeletePlan[]) {
    const { ipcache } = target;
    const time = new Date(this.#options.now()).toISOString();
    const numbers = new Map(plan.prefixes.map(({ placeholder }) => [placeholder.prefix, placeholder.identity]));
    const sure = deletes.filter(({ prefix, stored }) => stored?.entry.identity === numbers.get(prefix));
    const backup = target.lock && (await writeBackup(target.lock, header(target, time), backupEntries(sure)));
    const deleted = new Set<string>();
    for (const plan of sure) if (await applyDelete(ipcache.map, plan)) deleted.add(plan.prefix);
    const kept = new Set(
      deletes
        .filter(({ prefix, stored }) => stored !== undefined && !deleted.has(prefix))
        .map(({ prefix }) => numbers.get(prefix)),
    );
    const freed = new Set(plan.freed.filter((identity) => !kept.has(identity)));
    await target.state?.write(releasedState(state, { freed, deleted, time }));
    return { deleted, backup: backup?.path };
  }

  #items(
    plan: ReleasePlan,
    deletes: readonly DeletePlan[],
    deleted: ReadonlySet<string>,
    isRun: boolean,
    counter: PolicyMapCounter | undefined,
  ): PlanItem[] {
    const byPrefix = new Map(deletes.map((plan) => [plan.prefix, plan]));
    const items: PlanItem[] = [];
    for (const released of plan.prefixes) {
      const { prefix, identity } = released.placeholder;
      if (released.reason !== 'unclaimed') {
        items.push({
          action: released.reason === 'gone' ? 'skip' : 'keep',
          prefix,
          identity,
          reason: REASONS[released.reason](released),
          done: isRun,
        });
        continue;
      }
      const fallsTo = byPrefix.get(prefix)?.fallsTo;
      items.push({
        action: 'delete',
        prefix,
        identity,
        reason: REASONS.unclaimed(released),
        fallsTo: fallsTo === undefined ? undefined : entryWords(fallsTo),
        ...(counter !== undefined && { policyMaps: counter(identity) }),
        done: isRun && deleted.has(prefix),
      });
    }
    return items;
  }

  async #countDown(ms: number): Promise<void> {
    const { logger, signal } = this.#options;
    for (let left = ms; left > 0 && !signal.aborted; left -= COUNTDOWN_MS) {
      logger.info(`placeholders end in ${Math.ceil(left / 1000)} s`);
      await pause(Math.min(left, COUNTDOWN_MS), signal);
    }
  }
}

const REASONS: Readonly<Record<ReleasedPrefix['reason'], (released: ReleasedPrefix) => string>> = {
  claimed: ({ by }) => `claimed: by ${by}`,
  unclaimed: () => 'unclaimed: no source has it',
  unknown: () => 'unknown: nobody says whether it is still wanted; the entry stays, its reservation ends',
  gone: () => 'gone: it is not in the map any more',
  changed: () => 'changed: the map has another entry there by now, which stays',
};

function requireState(directory: string, state: StateCheckpoint | undefined): StateCheckpoint {
  if (state?.restored !== undefined) return state;
  throw new NotFoundError(`Cannot release anything: ${directory} knows of no restore`, {
    code: 'NO_STATE',
    hint: 'ipc restore keeps what is released later; name its directory with --state-dir',
    operands: { path: directory },
  });
}

function dueAt({ restored, time }: StateCheckpoint, graceMs: number | undefined): number {
  return Date.parse(restored?.graceFrom ?? restored?.time ?? time) + (graceMs ?? restored?.graceMs ?? 0);
}

function summaryOf({ prefixes, freed }: ReleasePlan, deleted: number): Record<string, number> {
  const count = (reason: ReleasedPrefix['reason']): number =>
    prefixes.filter((released) => released.reason === reason).length;
  return {
    placeholders: prefixes.length,
    claimed: count('claimed'),
    unknown: count('unknown'),
    gone: count('gone'),
    changed: count('changed'),
    deleted,
    freed: prefixes.length === 0 ? 0 : freed.length,
  };
}

function warningsOf(state: StateCheckpoint, claims: Claims | undefined): string[] {
  if (state.placeholders.length === 0 || claims !== undefined) return [];
  return ['no source of claims was named: nothing that is in the map is deleted, only its reservation ends'];
}

function header({ facts }: ChangeMap, time: string) {
  const { id, pin, layout } = facts;
  return {
    time,
    command: 'release',
    bootId: readMachineFacts().bootId ?? '',
    map: { id, layout, ...(pin !== undefined && { pin }) },
  };
}

function* backupEntries(deletes: readonly DeletePlan[]) {
  for (const { prefix, stored } of deletes) {
    if (stored !== undefined) yield { prefix, identity: stored.entry.identity, key: stored.key, before: stored.value };
  }
}
