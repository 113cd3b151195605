/**
 * The agent loop: sources → cache → map, in the order that keeps numbers: lock, restore, open or make the map, replay,
 * run; release when the grace period after the sync of all sources is over; drain at the end.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { Ipcache } from '../cache/ipcache.ts';
import type { CacheProblem } from '../cache/problem.ts';
import { UnreachableError } from '../errors.ts';
import { fileError } from '../fs/file-error.ts';
import { CachingAllocator } from '../identity/caching-allocator.ts';
import { openState, type State } from '../state/state.ts';
import { Auditor } from './auditor.ts';
import { CacheDesired } from './cache-desired.ts';
import { timeText } from './clock.ts';
import { Collector } from './collector.ts';
import { drainLoop } from './drain.ts';
import { FlapWatch } from './flap-watch.ts';
import { Keeper } from './keeper.ts';
import type { Phase } from './loop-event.ts';
import type { LoopParts } from './loop-parts.ts';
import type { LoopSetup, LoopSummary } from './loop-setup.ts';
import { MapFollower } from './map-follower.ts';
import { prepareMap } from './prepare-map.ts';
import { Releaser } from './releaser.ts';
import { SourceGroup } from './source-group.ts';

/** More prefixes that wait to be resolved make sources wait. */
const MANY_QUEUED = 65_536;

export class AgentLoop {
  readonly setup: LoopSetup;
  readonly started: number;
  phase: Phase = 'lock';
  /** Lines that were no events, of all sources. */
  badLines = 0;
  #parts: LoopParts | undefined;
  readonly #fatal = new AbortController();

  constructor(setup: LoopSetup) {
    this.setup = setup;
    this.started = setup.clock.now();
  }

  /** Undefined until the map is open. */
  get parts(): LoopParts | undefined {
    return this.#parts;
  }

  /** Whether everything is synced and nothing is waiting to be written for the first time. */
  get isReady(): boolean {
    const parts = this.#parts;
    return this.phase === 'run' && parts !== undefined && parts.sources.isSynced && !parts.follower.isReplaying;
  }

  /** A line of a source was no event. */
  noteBadLine(source: string): void {
    this.badLines++;
    this.#parts?.sources.feedOf(source)?.count('malformed');
  }

  /**
   * Runs until the signal fires and everything is drained.
   * @throws {RefusedError} somebody else owns the map, also when that comes about later @throws {LockedError}
   * @throws {UnreachableError} a source did not sync in time @throws {MalformedError} a bad line where none may be
   */
  async run(): Promise<LoopSummary> {
    const { setup } = this;
    this.#enter('lock');
    makePinDirectory(setup.pin);
    using state = openState({ directory: setup.stateDirectory, pin: setup.pin });
    this.#parts = await this.#open(state);
    const { follower, sources, cache, auditor, collector } = this.#parts;
    const end = AbortSignal.any([setup.signal, this.#fatal.signal]);
    try {
      this.#enter('replay');
      await follower.start(this.#parts.isInMap);
      await follower.writer.flush();
      this.#enter('run');
      cache.start({
        now: setup.clock.monotonic,
        soon: (run) => void globalThis.setImmediate(run),
        later: (run, ms) => {
          const timer = setTimeout(run, ms);
          return () => clearTimeout(timer);
        },
      });
      sources.start((error) => this.fail(error));
      auditor.start((error) => this.fail(error));
      collector.start();
      this.#requireSync(end);
      if (!end.aborted) await new Promise((resolve) => end.addEventListener('abort', resolve, { once: true }));
    } finally {
      this.#enter('drain');
      await drainLoop(this.#parts, setup);
      this.#enter('stopped');
    }
    if (this.#fatal.signal.aborted) throw this.#fatal.signal.reason;
    return this.#summary(this.#parts);
  }

  async #open(state: State): Promise<LoopParts> {
    const { setup } = this;
    const { clock, tell } = setup;
    const previous = state.checkpoint;
    if (previous?.writer?.drained === false) tell({ kind: 'unclean-start', time: previous.time });
    const allocator = new CachingAllocator({
      options: setup.identities,
      onWarning: (message, id) => tell({ kind: 'cache-problem', message: `identity ${id}: ${message}` }),
    });
    const cache = new Ipcache({
      allocator,
      onProblem: (problem) => this.#tellCacheProblem(problem),
      seconds: () => Math.trunc((clock.now() - this.started) / 1000),
    });
    const { target, restored, isInMap } = await prepareMap({
      setup,
      cache,
      allocator,
      previous,
      enter: (phase) => this.#enter(phase),
    });
    const follower = new MapFollower({
      ...setup,
      cache,
      map: target.map,
      layout: target.layout,
      refusal: (map) => setup.refusal('listen', map),
      onFailure: (error) => this.fail(error),
      monotonic: clock.monotonic,
    });
    const drained = (): Promise<void> | undefined =>
      follower.writer.drained() ?? (cache.queueLength > MANY_QUEUED ? setImmediate() : undefined);
    const sources: SourceGroup = new SourceGroup({
      setup,
      cache,
      drained,
      onChange: () => keeper.changed(),
      claim: (prefix) => restored?.claim(prefix),
    });
    const releaser = new Releaser({
      setup,
      cache,
      allocator,
      restored,
      writer: follower.writer,
      onChange: () => keeper.changed(),
    });
    const keeper: Keeper = new Keeper({
      state,
      cache,
      allocator,
      bootId: setup.bootId,
      clock,
      tell,
      facts: (isFinal) => ({
        map: { id: follower.map.info.id, layout: target.layout.name },
        writer: { pid: setup.pid, started: timeText(this.started), drained: isFinal },
        ...releaser.facts,
        sources: sources.states,
        pending: isFinal ? follower.pending() : [],
        collected: collector.collected,
      }),
    });
    const collector: Collector = new Collector({
      setup,
      state,
      desired: new CacheDesired(cache, sources),
      follower,
      sources,
      collected: previous?.collected ?? [],
      onChange: () => keeper.changed(),
    });
    const { rules, reassert } = setup;
    const auditor = new Auditor({ cache, follower, rules, reassert, monotonic: clock.monotonic, tell });
    cache.follow(
      new FlapWatch(clock.monotonic, (prefix, identities) => tell({ kind: 'flapping', prefix, identities })),
    );
    cache.follow(keeper);
    keeper.changed();
    sources.whenSynced(() => releaser.begin((error) => this.fail(error)));
    return { state, cache, allocator, follower, isInMap, keeper, sources, releaser, auditor, collector };
  }

  #summary({ follower, sources, cache }: LoopParts): LoopSummary {
    const { written, deleted } = follower.writer.counts;
    return {
      map: { id: follower.map.info.id, pin: this.setup.pin, layout: follower.layout.name },
      events: sources.events,
      rejected: [...sources.feeds, sources.direct].reduce((sum, feed) => sum + feed.rejections, 0) - this.badLines,
      badLines: this.badLines,
      written,
      deleted,
      pending: follower.writer.pending,
      entries: cache.entries.size,
    };
  }

  #enter(phase: Phase): void {
    this.phase = phase;
    this.setup.tell({ kind: 'phase', phase });
  }

  /** Ends the run because of an error. */
  fail(error: unknown): void {
    if (!this.#fatal.signal.aborted) this.#fatal.abort(error);
  }

  #requireSync(end: AbortSignal): void {
    const { requireSyncMs } = this.setup;
    if (requireSyncMs === undefined) return;
    sleep(requireSyncMs, undefined, { signal: end }).then(
      () => {
        const missing = this.#parts?.sources.unsynced ?? [];
        if (missing.length === 0) return;
        const reasons = missing.map(({ name, reason }) => (reason === undefined ? name : `${name} (${reason})`));
        this.fail(
          new UnreachableError(
            `Cannot go on without all sources: not synced within ${requireSyncMs / 1000} s: ${reasons.join(', ')}`,
            {
              code: 'SOURCE_NOT_SYNCED',
              hint: 'without --require-sync they are waited for as long as it takes; a stream says {"op":"synced"} when it is complete',
            },
          ),
        );
      },
      () => {},
    );
  }

  #tellCacheProblem(problem: CacheProblem): void {
    // Counted by the source that named it.
    if (problem.kind === 'unknown-key') return;
    this.setup.tell({ kind: 'cache-problem', message: problemText(problem) });
  }
}

/** As Cilium makes it. The lock is on this directory. */
function makePinDirectory(pin: string): void {
  try {
    mkdirSync(dirname(pin), { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw fileError('create', dirname(pin), cause);
  }
}

function problemText(problem: Exclude<CacheProblem, { readonly kind: 'unknown-key' }>): string {
  switch (problem.kind) {
    case 'conflict':
      return `resources disagree about ${problem.prefix}: ${JSON.stringify(problem.conflict)}`;
    case 'allocation-failed':
      return `${problem.prefix} waits for an identity: ${problem.error.message}`;
    case 'release-failed':
      return `identity ${problem.identity} was not given away here and cannot be released`;
  }
}
