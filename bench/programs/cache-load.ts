/**
 * Puts load on the in-memory cache, alone in a process so that its memory is its own.
 * usage: cache-load direct|mixed|subtree N. Prints one JSON object.
 */
import { readFileSync } from 'node:fs';
import { parseCacheKey } from '../../src/lib/cache/cache-key.ts';
import type { Scheduler } from '../../src/lib/cache/injection-loop.ts';
import { Ipcache } from '../../src/lib/cache/ipcache.ts';
import type { MetadataUpdate } from '../../src/lib/cache/metadata.ts';
import { CachingAllocator } from '../../src/lib/identity/caching-allocator.ts';
import { cidrLabels } from '../../src/lib/identity/cidr-labels.ts';
import { Labels } from '../../src/lib/identity/labels.ts';
import { DEFAULT_IDENTITY_OPTIONS } from '../../src/lib/identity/options.ts';
import { makePrefix, parsePrefix } from '../../src/lib/net/prefix.ts';

/** What one kind of load cost. CPU is that of the main thread alone, so that it says the same on a busy machine. */
export interface CacheLoad {
  /** Upserts in each second of CPU: of new keys, then of the same keys with other values. */
  readonly insertsPerSecond: number;
  readonly updatesPerSecond: number;
  readonly events: number;
  /** MiB, resident. */
  readonly memory: number;
  /** The longest turn of the event loop, in milliseconds. */
  readonly longestTurnCpu: number;
  readonly longestTurnWall: number;
  readonly cpu: number;
  readonly wall: number;
}

/** CPU milliseconds of the main thread. */
function cpuNow(): number {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
}

const FIRST_IDENTITY = 65_536;

function address(i: number): string {
  return `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
}

function newCache(): { readonly cache: Ipcache; readonly count: () => number } {
  let events = 0;
  const cache = new Ipcache({ allocator: new CachingAllocator() });
  cache.addListener({ onIpcacheEvent: () => events++ });
  return { cache, count: () => events };
}

/** As a kvstore gives them: every address and pod has strings of its own, namespaces and hosts are shared. */
function upsertAll(cache: Ipcache, from: number, to: number, identity: number): number {
  const begin = cpuNow();
  for (let i = from; i < to; i++) {
    const key = parseCacheKey(address(i));
    const pod = { namespace: NAMESPACES[i % NAMESPACES.length] ?? '', name: `pod-${i}` };
    cache.upsert(key, {
      identity: identity + (i % 5000),
      source: 'kvstore',
      hostIP: HOSTS[i % HOSTS.length],
      encryptKey: 3,
      pod,
    });
  }
  return Math.round((to - from) / ((cpuNow() - begin) / 1000));
}

const NAMESPACES = Array.from({ length: 200 }, (_, i) => `ns-${i}`);

const HOSTS = Array.from({ length: 500 }, (_, i) => `192.0.${i >> 8}.${i & 255}`);

function metadataFor(i: number): MetadataUpdate {
  const prefix = makePrefix(Uint8Array.of(20 + (i >> 24), (i >> 16) & 255, (i >> 8) & 255, i & 255), 32);
  const labels = cidrLabels(prefix, DEFAULT_IDENTITY_OPTIONS);
  return { prefix, source: 'generated', resource: 'cnp/shop/db', info: { labels } };
}

/** Notes the longest time between two turns of the event loop. */
class Turns {
  cpu = 0;
  wall = 0;
  #cpu = cpuNow();
  #wall = performance.now();

  note(): void {
    const cpu = cpuNow();
    const wall = performance.now();
    this.cpu = Math.max(this.cpu, cpu - this.#cpu);
    this.wall = Math.max(this.wall, wall - this.#wall);
    this.#cpu = cpu;
    this.#wall = wall;
  }
}

const scheduler: Scheduler = {
  now: () => performance.now(),
  soon: (run) => void setImmediate(run),
  later: (run, ms) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Labels on a /8 with n prefixes inside. */
async function relabel(cache: Ipcache, n: number): Promise<Turns> {
  for (let i = 0; i < n; i++) cache.upsertMetadata([metadataFor(i)]);
  cache.injectNow();
  globalThis.gc?.();
  const turns = new Turns();
  const info = { labels: Labels.parse(['cidrgroup:everything']) };
  const prefix = parsePrefix('20.0.0.0/8');
  const revision = cache.upsertMetadata([{ prefix, source: 'generated', resource: 'cidrgroup//all', info }]);
  turns.note();
  let isDone = false;
  const tick = (): void => {
    turns.note();
    if (!isDone) setImmediate(tick);
  };
  setImmediate(tick);
  cache.start(scheduler);
  await cache.waitForRevision(revision);
  isDone = true;
  cache.stop();
  return turns;
}

async function load(mode: string, n: number): Promise<CacheLoad> {
  const { cache, count } = newCache();
  const begin = { cpu: cpuNow(), wall: performance.now() };
  const fromMetadata = mode === 'mixed' ? n / 10 : mode === 'subtree' ? n : 0;
  const turns = mode === 'subtree' ? await relabel(cache, n) : undefined;
  const insertsPerSecond = upsertAll(cache, 0, n - fromMetadata, FIRST_IDENTITY);
  if (mode === 'mixed') {
    for (let i = 0; i < fromMetadata; i++) cache.upsertMetadata([metadataFor(i)]);
    cache.injectNow();
  }
  const updatesPerSecond = upsertAll(cache, 0, n - fromMetadata, FIRST_IDENTITY + 1);
  const entries = cache.entries.size - (turns === undefined ? 0 : 1);
  if (entries !== n) throw new Error(`${entries} entries instead of ${n}`);
  return {
    insertsPerSecond,
    updatesPerSecond,
    events: count(),
    memory: process.memoryUsage().rss / 2 ** 20,
    longestTurnCpu: turns?.cpu ?? 0,
    longestTurnWall: turns?.wall ?? 0,
    cpu: cpuNow() - begin.cpu,
    wall: performance.now() - begin.wall,
  };
}

const [mode = 'direct', n = '500000'] = process.argv.slice(2);
void load(mode, Number(n)).then((result) => process.stdout.write(`${JSON.stringify(result)}\n`));
