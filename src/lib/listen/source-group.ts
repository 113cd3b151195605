/** All sources of a loop, followed at the same time. */
import type { Ipcache } from '../cache/ipcache.ts';
import type { Prefix } from '../net/prefix.ts';
import type { SourceState } from '../state/checkpoint.ts';
import { timeText } from './clock.ts';
import type { TellLoop } from './loop-event.ts';
import type { LoopSetup, LoopSource } from './loop-setup.ts';
import { SourceFeed } from './source-feed.ts';
import { runSource } from './source-runner.ts';

export interface SourceGroupSetup {
  readonly setup: LoopSetup;
  readonly cache: Ipcache;
  readonly drained: () => Promise<void> | undefined;
  /** Something that is part of the checkpoint changed. */
  readonly onChange: () => void;
  /** Called before metadata of a prefix is taken in. */
  readonly claim: (prefix: Prefix) => void;
}

interface Member extends LoopSource {
  readonly feed: SourceFeed;
}

export class SourceGroup {
  /** For events that come by way of the control socket; nobody waits for it to sync. */
  readonly direct: SourceFeed;
  readonly #members: readonly Member[];
  readonly #stop = new AbortController();
  readonly #stopped = new Promise<void>((resolve) => {
    this.#stop.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  readonly #cache: Ipcache;
  #running: Promise<void> = Promise.resolve();
  readonly #onSynced: (() => void)[] = [];
  #isSettling = false;
  #syncedAt: number | undefined;

  constructor({ setup, cache, drained, onChange, claim }: SourceGroupSetup) {
    const { node, tell, clock } = setup;
    this.#cache = cache;
    const watched: TellLoop = (event) => {
      tell(event);
      if (event.kind === 'source' && event.condition === 'synced') this.#checkSynced(setup);
    };
    const shared = {
      cache,
      node,
      tell: watched,
      now: clock.now,
      onChange,
      claim,
      drained: () => this.#drained(drained),
    };
    this.direct = new SourceFeed({ ...shared, name: 'control' });
    this.#members = setup.sources.map(({ source, reference }) => ({
      source,
      reference,
      feed: new SourceFeed({ ...shared, name: source.name }),
    }));
  }

  get feeds(): readonly SourceFeed[] {
    return this.#members.map(({ feed }) => feed);
  }

  feedOf(name: string): SourceFeed | undefined {
    return name === this.direct.name ? this.direct : this.feeds.find((feed) => feed.name === name);
  }

  /** Every source has been complete once, and the cache has what they said. Without sources nobody ever says that. */
  get isSynced(): boolean {
    return this.#syncedAt !== undefined;
  }

  /** When that came about, in milliseconds since the epoch. */
  get syncedAt(): number | undefined {
    return this.#syncedAt;
  }

  get unsynced(): readonly SourceFeed[] {
    return this.feeds.filter(({ syncedAt }) => syncedAt === undefined);
  }

  /** Events until now. */
  get events(): number {
    return this.feeds.reduce((sum, { events }) => sum + events, this.direct.events);
  }

  /** As the checkpoint has them. */
  get states(): SourceState[] {
    return this.#members.map(({ source, reference, feed }) => ({
      name: source.name,
      reference,
      rank: source.rank,
      ...(feed.syncedAt !== undefined && { synced: timeText(feed.syncedAt) }),
      connected: feed.condition === 'synced' || feed.condition === 'ended',
      ...(feed.reason !== undefined && { error: feed.reason }),
    }));
  }

  get members(): readonly Member[] {
    return this.#members;
  }

  /** Calls back when all sources have been complete for the first time. */
  whenSynced(run: () => void): void {
    if (this.isSynced) run();
    else this.#onSynced.push(run);
  }

  /** @param onFatal what no other try would change */
  start(onFatal: (error: unknown) => void): void {
    const { signal } = this.#stop;
    const runs = this.#members.map(({ source, feed }) => runSource(source, feed, signal).catch(onFatal));
    this.#running = Promise.all(runs).then(() => {});
  }

  /** Nothing is read any more. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    for (const { source } of this.#members) await source[Symbol.asyncDispose]();
  }

  /** A writer that is held back wakes those who wait for it, and they have to wait again. */
  #drained(wait: () => Promise<void> | undefined): Promise<void> | undefined {
    const first = wait();
    return first === undefined ? undefined : this.#untilDrained(first, wait);
  }

  async #untilDrained(first: Promise<void>, wait: () => Promise<void> | undefined): Promise<void> {
    for (let next: Promise<void> | undefined = first; next !== undefined; next = wait()) {
      await Promise.race([next, this.#stopped]);
      if (this.#stop.signal.aborted) return;
    }
  }

  #checkSynced({ tell, clock: { now } }: LoopSetup): void {
    if (this.#isSettling || this.unsynced.length > 0) return;
    this.#isSettling = true;
    // Metadata that came before the sync is in the cache, and so in the map, before anything is concluded from it.
    this.#cache.waitForRevision(this.#cache.upsertMetadata([])).then(() => {
      this.#syncedAt = now();
      tell({ kind: 'synced' });
      for (const run of this.#onSynced.splice(0)) run();
    });
  }
}
