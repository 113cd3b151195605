/** From the lock to an open map and a cache that knows what the map has. */
import { statSync } from 'node:fs';
import type { Ipcache } from '../cache/ipcache.ts';
import type { CacheEntry } from '../cache/listener.ts';
import type { CachingAllocator } from '../identity/caching-allocator.ts';
import { type IpcacheMap, openIpcache } from '../ipcache/ipcache-map.ts';
import { newMapSpec } from '../restore/new-map-spec.ts';
import type { StateCheckpoint } from '../state/checkpoint.ts';
import { timeText } from './clock.ts';
import type { Phase } from './loop-event.ts';
import type { LoopSetup } from './loop-setup.ts';
import { createTarget, recreateTarget, type Target } from './open-target.ts';
import { type RestoredCache, restoreCache } from './restore-cache.ts';

export interface PrepareMapOptions {
  readonly setup: LoopSetup;
  readonly cache: Ipcache;
  readonly allocator: CachingAllocator;
  readonly previous: StateCheckpoint | undefined;
  readonly enter: (phase: Phase) => void;
}

export interface PreparedMap {
  readonly target: Target;
  /** Undefined without a restore. */
  readonly restored: RestoredCache | undefined;
  /** Whether the target was read to have exactly this entry; undefined for one that is new. */
  readonly isInMap?: ((prefix: string, entry: CacheEntry) => boolean) | undefined;
}

/** @throws {ToolError} the map is another's, cannot be read, or cannot be made */
export async function prepareMap(options: PrepareMapOptions): Promise<PreparedMap> {
  const { setup, cache, enter } = options;
  const present = await openPresent(setup);
  try {
    if (present !== undefined) await refuseUnlessOurs(setup, present);
    enter('restore');
    const restored = setup.restore ? await restore(options, present) : undefined;
    enter('open');
    const wanted = {
      kernel: setup.kernel,
      pin: setup.pin,
      replaces: present,
      layout: setup.layout,
      maxEntries: setup.maxEntries,
      flags: setup.mapFlags,
    };
    if (present === undefined) return { target: createTarget(wanted), restored };
    if (!setup.recreate) {
      return { target: { map: present.map, layout: present.layout }, restored, isInMap: restored?.isInMap };
    }
    const target = await recreateTarget(wanted, cache, setup.rules);
    present[Symbol.dispose]();
    return { target, restored };
  } catch (error) {
    present?.[Symbol.dispose]();
    throw error;
  }
}

async function openPresent({ kernel, pin, layout, signal }: LoopSetup): Promise<IpcacheMap | undefined> {
  if (statSync(pin, { throwIfNoEntry: false }) === undefined) return undefined;
  return openIpcache({ kernel, ref: { kind: 'pin', path: pin }, layout, signal, write: true });
}

async function refuseUnlessOurs(setup: LoopSetup, { map }: IpcacheMap): Promise<void> {
  const refusal =
    (await setup.refusal('listen', map)) ?? (setup.recreate ? await setup.refusal('recreate', map) : undefined);
  if (refusal !== undefined) throw refusal;
}

async function restore(
  { setup, cache, allocator, previous }: PrepareMapOptions,
  ipcache: IpcacheMap | undefined,
): Promise<RestoredCache> {
  const { pin, layout, clock, signal, tell } = setup;
  const restored = await restoreCache({
    cache,
    allocator,
    ipcache,
    layout: ipcache?.layout ?? newMapSpec({ pin, layout }).layout,
    previous,
    time: timeText(clock.now()),
    signal,
  });
  tell({ kind: 'restored', identities: restored.identities, prefixes: restored.placeholders.length });
  for (const { prefix, reason } of restored.conflicts) {
    tell({ kind: 'cache-problem', message: `${prefix} does not keep its number: ${reason}` });
  }
  return restored;
}
