/** `ipc release` between its flags and its report. */

import { applyDelete, type DeletePlan, planDelete } from '../change/delete-entries.ts';
import { IncompleteError, NotFoundError } from '../errors.ts';
import { parsePrefix } from '../net/prefix.ts';
import type { ReleaseModel } from '../output/release-view.ts';
import { readClaims } from '../restore/claims.ts';
import { isPinned } from '../restore/fill-new-map.ts';
import { readMapNumbers } from '../restore/map-numbers.ts';
import { planRelease, type ReleasePlan } from '../restore/release-plan.ts';
import { releasedState } from '../restore/released-state.ts';
import { readMachineFacts } from '../snapshot/machine-facts.ts';
import { openSource } from '../sources/open-source.ts';
import type { Source } from '../sources/source.ts';
import { parseSourceRefs } from '../sources/source-ref.ts';
import { writeBackup } from '../state/backup.ts';
import type { StateCheckpoint } from '../state/checkpoint.ts';
import { readCheckpoint } from '../state/read-checkpoint.ts';
import { type ChangeMap, type ChangeMapOptions, changeMap } from './change-map.ts';
import { countDown } from './count-down.ts';
import { policyMapCounter } from './policy-map-counts.ts';
import { dueAt, type ReleaseDone, releaseModel } from './release-report.ts';
import type { Runtime } from './runtime.ts';
import { sourceSockets } from './source-sockets.ts';

export interface ReleaseRunOptions extends Omit<ChangeMapOptions, 'withState'> {
  readonly graceMs: number | undefined;
  readonly wait: boolean;
  readonly releaseNow: boolean;
  readonly claims: readonly string[];
  readonly timeoutMs: number;
  readonly stdin: () => AsyncIterable<Uint8Array>;
  readonly uid: number;
  readonly runtime: Pick<Runtime, 'now' | 'writeError' | 'stderrIsTerminal'>;
}

/** With a kvstore as source of claims, as the agent waits. */
const KVSTORE_GRACE_MS = 600_000;

export class ReleaseRun {
  readonly #options: ReleaseRunOptions;

  constructor(options: ReleaseRunOptions) {
    this.#options = options;
  }

  async run(): Promise<ReleaseModel> {
    const { claims } = this.#options;
    // A reference may have commas of its own, at which the flag was cut.
    const refs = claims.length === 0 ? [] : parseSourceRefs(claims.join(','));
    const { stdin, uid, agentSocket, runtime } = this.#options;
    // Entries are deleted for what is not claimed: half of a file would be the end of the other half.
    const open = { stdin, uid, strict: true, sockets: sourceSockets(agentSocket), now: () => runtime.now() };
    const sources = refs.map((ref) => openSource(ref, open));
    try {
      const isKvstore = refs.some(({ target }) => target.kind === 'etcd');
      return await this.#whenDue(sources, this.#options.graceMs ?? (isKvstore ? KVSTORE_GRACE_MS : undefined));
    } finally {
      for (const source of sources) await source[Symbol.asyncDispose]();
    }
  }

  async #whenDue(sources: readonly Source[], graceMs: number | undefined): Promise<ReleaseModel> {
    const { runtime, wait, releaseNow, signal, logger } = this.#options;
    for (let state = this.#remembered(); ; ) {
      const releaseAt = dueAt(state, graceMs);
      const waits = wait && !releaseNow && !isOver(state) && releaseAt > runtime.now();
      if (waits) {
        await this.#checkOwner(state);
        await countDown(releaseAt - runtime.now(), { runtime, logger, signal, what: 'placeholders end' });
      }
      signal.throwIfAborted();
      using target = await this.#open(state);
      const current = target.state?.checkpoint ?? this.#remembered();
      // Another restore may have begun a grace period of its own meanwhile.
      if (waits && dueAt(current, graceMs) > releaseAt) {
        state = current;
        continue;
      }
      const isDue = releaseNow || waits || runtime.now() >= releaseAt;
      return await this.#release(target, current, { releaseAt, isDue, sources });
    }
  }

  #remembered(): StateCheckpoint {
    const directory = this.#options.shared['state-dir'];
    return requireState(directory, readCheckpoint(directory));
  }

  /** Better now than after the waiting. */
  async #checkOwner(state: StateCheckpoint): Promise<void> {
    using target = await this.#open(state);
    target.requireOwner('release');
  }

  #open({ pin }: StateCheckpoint): Promise<ChangeMap> {
    const { shared } = this.#options;
    return changeMap({ ...this.#options, shared: { ...shared, map: shared.map ?? pin }, withState: true });
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
    const { dryRun, signal, timeoutMs, runtime } = this.#options;
    if (state.placeholders.length > 0) target.requireOwner('release');
    const claims = sources.length === 0 ? undefined : await readClaims(sources, { signal, timeoutMs });
    const wanted = new Set(state.placeholders.map(({ prefix }) => prefix));
    const plan = isOver(state)
      ? { prefixes: [], freed: [] }
      : planRelease(state, await readMapNumbers(target.ipcache, wanted, signal), claims);
    const going = plan.prefixes.filter(({ reason }) => reason === 'unclaimed');
    const deletes = await planDelete(
      target.ipcache,
      { prefixes: going.map(({ placeholder }) => parsePrefix(placeholder.prefix)), ignoreNotFound: true },
      signal,
    );
    const changing = new Set([...going.map(({ placeholder }) => placeholder.identity), ...plan.freed]);
    const counter = await policyMapCounter(changing, { ...this.#options, bpffs: this.#options.shared.bpffs });
    const isRun = isDue && !dryRun && target.state !== undefined;
    const time = new Date(runtime.now()).toISOString();
    const done = isRun && !isOver(state) ? await this.#apply(target, state, { plan, deletes, time }) : undefined;
    return releaseModel({
      map: target.facts,
      dryRun,
      plan,
      deletes,
      done,
      counter,
      releaseAt,
      released: done === undefined ? state.restored?.released : time,
      withoutClaims: claims === undefined,
      unsettled: claims?.unsettled ?? [],
    });
  }

  /** Entries first, then numbers: at no moment is a number free that an entry still has. */
  async #apply(
    target: ChangeMap,
    state: StateCheckpoint,
    {
      plan,
      deletes,
      time,
    }: { readonly plan: ReleasePlan; readonly deletes: readonly DeletePlan[]; readonly time: string },
  ): Promise<ReleaseDone> {
    const { ipcache } = target;
    requireInPlace(target);
    const numbers = new Map<string, number>(
      plan.prefixes.map(({ placeholder }) => [placeholder.prefix, placeholder.identity]),
    );
    const sure = deletes.filter(({ prefix, stored }) => stored?.entry.identity === numbers.get(prefix));
    const backup = target.lock && (await writeBackup(target.lock, header(target, time), backupEntries(sure)));
    const deleted = new Set<string>();
    for (const one of sure) if (await applyDelete(ipcache.map, one)) deleted.add(one.prefix);
    const kept = new Set(
      deletes
        .filter(({ prefix, stored }) => stored !== undefined && !deleted.has(prefix))
        .map(({ prefix }) => numbers.get(prefix)),
    );
    const freed = new Set(plan.freed.filter((identity) => !kept.has(identity)));
    requireInPlace(target);
    await target.state?.write(releasedState(state, { freed, deleted, time }));
    return { deleted, freed, backup: backup?.path };
  }
}

/** There is nothing left to wait for and nothing to end. */
function isOver({ restored }: StateCheckpoint): boolean {
  return restored?.released !== undefined;
}

function requireState(directory: string, state: StateCheckpoint | undefined): StateCheckpoint {
  if (state?.restored !== undefined) return state;
  throw new NotFoundError(`Cannot release anything: ${directory} knows of no restore`, {
    code: 'NO_STATE',
    hint: 'ipc restore keeps what is released later; name its directory with --state-dir',
    operands: { path: directory },
  });
}

/** What another map has meanwhile was not looked at: its numbers must not become free. @throws {IncompleteError} */
function requireInPlace({ ipcache: { map } }: ChangeMap): void {
  const { path, kernel, info } = map;
  if (path === undefined || isPinned(kernel, path, info.id)) return;
  throw new IncompleteError(`Cannot finish: another map was pinned to ${path} meanwhile`, {
    code: 'MAP_REPLACED',
    hint: 'no number was freed; run it again: it then releases from the map that is there now',
    operands: { path, mapId: info.id },
  });
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
