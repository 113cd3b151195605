/** What the parts of a loop need around them: a map of the fake kernel under a pin, sources, a clock, a state directory. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Ipcache } from '../../src/lib/cache/ipcache.ts';
import { CachingAllocator } from '../../src/lib/identity/caching-allocator.ts';
import { DEFAULT_IDENTITY_OPTIONS } from '../../src/lib/identity/options.ts';
import { layoutNamed } from '../../src/lib/ipcache/layout.ts';
import type { LoopEvent } from '../../src/lib/listen/loop-event.ts';
import type { LoopSetup } from '../../src/lib/listen/loop-setup.ts';
import { MapFollower } from '../../src/lib/listen/map-follower.ts';
import { SourceGroup } from '../../src/lib/listen/source-group.ts';
import { FakeKernel } from './fake-kernel.ts';
import type { FakeMap } from './fake-map.ts';
import { FakeSource } from './fake-source.ts';
import { HandClock } from './hand-clock.ts';

export class LoopSite implements AsyncDisposable {
  readonly directory = mkdtempSync(path.join(tmpdir(), 'ipc-loop-'));
  readonly pin = path.join(this.directory, 'map');
  readonly kernel = new FakeKernel();
  readonly clock = new HandClock();
  readonly told: LoopEvent[] = [];
  readonly latencies: number[] = [];
  readonly failures: unknown[] = [];
  readonly allocator = new CachingAllocator();
  readonly cache: Ipcache;
  readonly sources: readonly FakeSource[];
  readonly fake: FakeMap;
  readonly follower: MapFollower;
  readonly group: SourceGroup;
  readonly setup: LoopSetup;
  /** How often something that is part of the checkpoint changed. */
  changes = 0;
  #ends: (() => Promise<void>)[] = [];

  constructor({ sources = [new FakeSource()], ...more }: SiteOptions = {}) {
    const { clock, kernel, pin } = this;
    this.sources = sources;
    this.cache = new Ipcache({ allocator: this.allocator });
    this.setup = {
      kernel,
      pin,
      stateDirectory: path.join(this.directory, 'state'),
      layout: undefined,
      maxEntries: undefined,
      mapFlags: undefined,
      recreate: false,
      restore: true,
      sources: sources.map((source) => ({ source, reference: `fake:${source.name}` })),
      node: { ipv4: true, ipv6: true, clusterId: 0 },
      rules: { node: {} },
      identities: DEFAULT_IDENTITY_OPTIONS,
      graceMs: 1000,
      stopTimeoutMs: 1000,
      requireSyncMs: undefined,
      gcIntervalMs: 0,
      allowGap: false,
      reassert: false,
      clock,
      random: () => 0.5,
      tell: (event) => this.told.push(event),
      signal: new AbortController().signal,
      clusterName: undefined,
      bootId: 'boot',
      pid: 42,
      refusal: async () => undefined,
      onLatency: (seconds) => this.latencies.push(seconds),
      ...more,
    };
    const { map, fake } = kernel.createMap({ maxEntries: 10_000 });
    this.fake = fake;
    kernel.pin(pin, fake);
    this.follower = new MapFollower({
      ...this.setup,
      cache: this.cache,
      map,
      layout: layoutNamed('v2'),
      refusal: (other) => this.setup.refusal('listen', other),
      monotonic: clock.monotonic,
      onFailure: (error) => this.failures.push(error),
    });
    this.group = new SourceGroup({
      setup: this.setup,
      cache: this.cache,
      drained: () => this.follower.writer.drained(),
      onChange: () => {
        this.changes++;
      },
      claim: () => {},
    });
  }

  /** The cache works in the background, the map follows it, and sources are followed. */
  start(): void {
    this.cache.start({
      now: performance.now.bind(performance),
      soon: (run) => void setImmediate(run),
      later: (run, ms) => {
        const timer = setTimeout(run, ms);
        return () => clearTimeout(timer);
      },
    });
    this.follower.start();
    this.group.start((error) => this.failures.push(error));
    this.atEnd(async () => {
      await this.group.stop();
      this.cache.stop();
      await this.follower.stop();
    });
  }

  atEnd(end: () => Promise<void>): void {
    this.#ends.push(end);
  }

  /** What was told of one kind. */
  toldOf<K extends LoopEvent['kind']>(kind: K): Extract<LoopEvent, { readonly kind: K }>[] {
    return this.told.filter((event): event is Extract<LoopEvent, { readonly kind: K }> => event.kind === kind);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

type SiteOptions = Partial<Omit<LoopSetup, 'sources'>> & { readonly sources?: readonly FakeSource[] };

/** Lets other work have its turns until it is so. @throws when it never is */
export async function untilTrue(what: string, isSo: () => boolean): Promise<void> {
  for (const end = performance.now() + 20_000; !isSo(); ) {
    if (performance.now() > end) throw new Error(`never came: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
