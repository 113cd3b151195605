/** `ipc restore` between its flags and its report. */
import type { BpfMap } from '../bpf/map.ts';
import { IncompleteError, type RefusedError } from '../errors.ts';
import { DEFAULT_IDENTITY_OPTIONS, type IdentityOptions } from '../identity/options.ts';
import { LinuxKernel } from '../native/linux-kernel.ts';
import { checkOwner, requireOwner } from '../owner/check-owner.ts';
import type { Ownership } from '../owner/decide-owner.ts';
import { CarriedEntries } from '../restore/carry-entries.ts';
import { isPinned, makePinDirectory, NewMapFiller } from '../restore/fill-new-map.ts';
import { KnownLabels } from '../restore/known-labels.ts';
import { planRestore } from '../restore/plan.ts';
import { isAdded, type RestorePlan } from '../restore/planned-entry.ts';
import { rememberedLabels } from '../restore/remembered.ts';
import { SourceCollector, type SourceReading } from '../restore/source-reading.ts';
import { readTarget, type TargetReading } from '../restore/target-reading.ts';
import { readMachineFacts } from '../snapshot/machine-facts.ts';
import { readCheckpoint as readState } from '../state/read-checkpoint.ts';
import { openState, type State } from '../state/state.ts';
import type { Log } from './log.ts';
import { ownerOfPin } from './owner-of-pin.ts';
import type { RestoreFlagValues } from './restore-flags.ts';
import { foretellRestore } from './restore-foretell.ts';
import { keepRestored, planHandOver } from './restore-keep.ts';
import { type RestoreOutcome, type RestoreResult, restoreResult } from './restore-report.ts';
import { requireRoom, rethrow } from './restore-room.ts';
import {
  type AllocatorState,
  guardSnapshot,
  mapSource,
  type RestoreSource,
  readAllocatorState,
  snapshotSource,
} from './restore-source.ts';
import { openTarget, type RestoreTarget } from './restore-target.ts';
import { foreseeCarried, hasWrites, misfits, NOTHING_WRITTEN, type Written, writeToMap } from './restore-write.ts';
import type { SharedValues } from './shared-flags.ts';
import { useIpcache } from './use-ipcache.ts';

export interface RestoreRunOptions {
  readonly flags: RestoreFlagValues;
  readonly shared: SharedValues;
  readonly tcBpfMnt: string | undefined;
  readonly agentSocket: string | undefined;
  readonly logger: Log;
  readonly signal: AbortSignal;
  readonly readStdin: () => Promise<Uint8Array>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Everything that is known before the first write. */
export interface Prepared {
  readonly source: RestoreSource;
  readonly target: RestoreTarget;
  readonly allocator: AllocatorState;
  readonly known: KnownLabels;
  readonly reading: SourceReading;
  readonly plan: RestorePlan;
  /** What is there already; absent for the source's own map and for a new one. */
  readonly present?: TargetReading;
  readonly carried?: CarriedEntries;
  /** Entries that a rule skips, with --all-items. */
  readonly skipped: readonly PlannedSkip[];
}

export interface PlannedSkip {
  readonly prefix: string;
  readonly identity: number;
  readonly reason: string;
}

export class RestoreRun {
  readonly #options: RestoreRunOptions;
  readonly #kernel = new LinuxKernel();

  constructor(options: RestoreRunOptions) {
    this.#options = options;
  }

  /** @returns the report, and the failure to throw after it */
  async run(): Promise<RestoreResult> {
    const { flags } = this.#options;
    await using source = await this.#openSource();
    if (flags['as-agent']) return await foretellRestore(source, this.#options);
    using target = await openTarget(source, this.#options);
    this.#guard(source, target);
    const ofNew = target.kind === 'new' ? await this.#requireNew(target) : undefined;
    if (ofNew !== undefined && !flags['dry-run']) makePinDirectory(target.pin);
    using state = flags['dry-run'] ? undefined : this.#openState(source, target);
    const ownership = ofNew ?? (await ownerOfPin(target, this.#options));
    this.#requireBefore(target, ownership);
    return await this.#restore(source, target, ownership, state);
  }

  async #restore(
    source: RestoreSource,
    target: RestoreTarget,
    ownership: Ownership,
    state: State | undefined,
  ): Promise<RestoreResult> {
    const { flags } = this.#options;
    const { made } = target;
    using filler =
      made !== undefined && !flags['dry-run']
        ? new NewMapFiller(this.#kernel, made, source.outgoing.map.layout, target.kind === 'recreate')
        : undefined;
    const prepared = await this.#prepare(source, target, state, filler).catch((error) => rethrow(error, target));
    requireRoom(prepared);
    const handOver = planHandOver(prepared, flags);
    const refusal = this.#refusal(prepared, ownership);
    const written =
      refusal === undefined
        ? await this.#write(prepared, state, filler).catch((error) => rethrow(error, target))
        : NOTHING_WRITTEN;
    const outcome: RestoreOutcome = {
      prepared,
      written,
      ownership,
      refusal,
      mapId: this.#mapId(prepared, filler?.map),
    };
    if (state !== undefined) {
      this.#requireInPlace(outcome);
      await keepRestored(outcome, state, handOver, this.#options);
    }
    return await restoreResult(outcome, handOver, this.#options);
  }

  async #prepare(
    source: RestoreSource,
    target: RestoreTarget,
    state: State | undefined,
    filler: NewMapFiller | undefined,
  ): Promise<Prepared> {
    const { flags, shared, logger, signal } = this.#options;
    const allocator = readAllocatorState(flags, logger);
    const known = new KnownLabels(allocator.records, this.#identityOptions());
    const carriesAll = flags.all || target.kind === 'recreate';
    const skipped: PlannedSkip[] = [];
    const collector = new SourceCollector(source.outgoing.map.layout, {
      skipIngress: flags['skip-ingress'],
      ...(flags['all-items'] && {
        onSkipped: (prefix: string, identity: number, reason: string) => skipped.push({ prefix, identity, reason }),
      }),
    });
    const into =
      target.kind === 'existing' ? target.present?.layout : filler === undefined ? target.made?.layout : undefined;
    const carried = carriesAll && into !== undefined ? new CarriedEntries(source.outgoing.map.layout, into) : undefined;
    const { complete, reason } = await source.outgoing.visit({
      onEntry(keys, key, values, value) {
        if (collector.add(keys, key, values, value) || !carriesAll) return;
        filler?.carry(keys, key, values, value);
        carried?.add(keys, key, values, value);
      },
      ...(filler !== undefined && { afterBatch: () => filler.flushFull() }),
    });
    const reading = collector.end(complete, reason);
    const present =
      target.kind === 'existing' && target.present !== undefined
        ? await readTarget(target.present.map, target.present.layout, reading.kept, signal)
        : undefined;
    const remembered = rememberedLabels(state === undefined ? readState(shared['state-dir']) : state.checkpoint);
    const plan = planRestore({
      source: reading,
      known,
      ...(source.outgoing.labels && { labelsInSource: source.outgoing.labels }),
      remembered,
      target: present ?? (target.kind === 'same' ? 'same' : 'new'),
      preferCheckpoint: flags.prefer === 'checkpoint',
      lazyGuesses: flags['write-allocator-state'] === undefined,
    });
    return {
      source,
      target,
      allocator,
      known,
      reading,
      plan,
      ...(present !== undefined && { present }),
      ...(carried !== undefined && { carried }),
      skipped,
    };
  }

  async #write(prepared: Prepared, state: State | undefined, filler: NewMapFiller | undefined): Promise<Written> {
    if (this.#options.flags['dry-run']) return foreseeCarried(prepared);
    return filler === undefined ? writeToMap(prepared, state, this.#options) : this.#fill(prepared, filler);
  }

  async #fill({ plan, target }: Prepared, filler: NewMapFiller): Promise<Written> {
    const { signal } = this.#options;
    const failed = await filler.place(plan.entries.filter(isAdded));
    const carried = filler.entries - plan.entries.filter(isAdded).length + failed.length;
    if (target.kind === 'recreate') await filler.replace(target.present?.map.info.id ?? 0, signal);
    else await filler.pin();
    const failures = [
      ...failed.map((entry) => ({ prefix: entry.prefix, identity: entry.identity, entry, reason: 'does-not-fit' })),
      ...misfits(filler.notFitting),
    ];
    return { changed: true, failures, carried };
  }

  async #openSource(): Promise<RestoreSource> {
    const { flags, shared, tcBpfMnt, logger, signal, readStdin } = this.#options;
    if (flags.from !== undefined) return snapshotSource(flags.from, readStdin);
    return mapSource(await useIpcache({ shared: this.#readShared(shared), tcBpfMnt, logger, signal }), signal);
  }

  /** --layout may be meant for a map that is made; then the one that is read tells its own. */
  #readShared(shared: SharedValues): Pick<SharedValues, 'map' | 'bpffs' | 'layout'> {
    const { to, recreate } = this.#options.flags;
    return to === undefined && !recreate ? shared : { map: shared.map, bpffs: shared.bpffs };
  }

  #guard(source: RestoreSource, target: RestoreTarget): void {
    const { flags, now, logger } = this.#options;
    if (source.snapshot === undefined) return;
    const facts = readMachineFacts();
    const onLiveMap = target.kind === 'existing' || target.kind === 'recreate';
    guardSnapshot(source.snapshot, { flags, facts, onLiveMap, now: now() });
    const { bootId } = source.snapshot.header;
    if (bootId !== undefined && bootId !== facts.bootId) {
      logger.warn(
        'the machine was started anew since the snapshot: no endpoint, policy map or connection is left that knew its numbers',
      );
    }
  }

  #openState(source: RestoreSource, target: RestoreTarget): State {
    const former = source.ipcache?.map.path;
    return openState({
      directory: this.#options.shared['state-dir'],
      pin: target.pin,
      ...(former !== undefined && { formerPin: former }),
    });
  }

  /** An agent that runs makes its own maps: one that is made beside it is only in its way. Asked before a directory is made. */
  async #requireNew(target: RestoreTarget): Promise<Ownership> {
    const { flags } = this.#options;
    const ownership = await ownerOfPin(target, this.#options);
    const overrideOwner = flags['override-owner'];
    requireOwner(flags['hand-over'] ? 'hand-over' : 'restore', target.pin, ownership, { overrideOwner });
    return ownership;
  }

  /** What is refused whatever the plan says. */
  #requireBefore(target: RestoreTarget, ownership: Ownership): void {
    const { flags } = this.#options;
    if (flags['hand-over']) requireOwner('hand-over', target.pin, ownership);
    if (target.kind !== 'recreate') return;
    requireOwner('recreate', target.pin, ownership, { programsWillReload: flags['programs-will-reload'] });
  }

  /** Somebody else's map is not written; where there is nothing to write there is nothing to refuse. */
  #refusal(prepared: Prepared, ownership: Ownership): RefusedError | undefined {
    const { flags } = this.#options;
    const { target } = prepared;
    if (target.made !== undefined || !hasWrites(prepared)) return undefined;
    return checkOwner(flags['hand-over'] ? 'hand-over' : 'restore', target.pin, ownership, {
      overrideOwner: flags['override-owner'],
    });
  }

  #mapId({ target }: Prepared, filled: BpfMap | undefined): number | undefined {
    return filled?.info.id ?? target.present?.map.info.id;
  }

  /** What was done was done to a map that nobody looks at any more. */
  #requireInPlace({ prepared: { target }, mapId }: RestoreOutcome): void {
    if (mapId !== undefined && isPinned(this.#kernel, target.pin, mapId)) return;
    throw new IncompleteError(`Cannot finish: another map was pinned to ${target.pin} meanwhile`, {
      code: 'MAP_REPLACED',
      hint: 'run it again: it then restores into the map that is there now',
      operands: { path: target.pin, ...(mapId !== undefined && { mapId }) },
    });
  }

  #identityOptions(): IdentityOptions {
    const { ipv4, ipv6 } = this.#options.flags;
    return { ...DEFAULT_IDENTITY_OPTIONS, enableIPv4: ipv4, enableIPv6: ipv6 };
  }
}
