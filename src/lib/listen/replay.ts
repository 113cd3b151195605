/** Everything the cache shows, told to a listener again in short turns: half a million entries would hold the loop for long. */
import { setImmediate } from 'node:timers/promises';
import { prefixTextOf } from '../cache/cache-key.ts';
import type { Ipcache } from '../cache/ipcache.ts';
import type { CacheEntry, IpcacheListener } from '../cache/listener.ts';

/** About a millisecond of work. */
const TURN_ENTRIES = 512;

export interface ReplayOptions {
  /** Settles when the listener can take more; undefined when there is no need to wait. */
  readonly drained: () => Promise<void> | undefined;
  /** What the listener knows already is not told. */
  readonly isKnown?: ((prefix: string, entry: CacheEntry) => boolean) | undefined;
}

/** What changes meanwhile reaches the listener by itself; told twice is no harm. @returns how many entries were told */
export async function replayInTurns(
  cache: Ipcache,
  listener: IpcacheListener,
  { drained, isKnown }: ReplayOptions,
): Promise<number> {
  let seen = 0;
  let told = 0;
  for (const [key, entry] of cache.entries.entries()) {
    if (++seen % TURN_ENTRIES === 0) {
      await setImmediate();
      await drained();
    }
    if (cache.entries.isShadowed(key)) continue;
    const prefix = prefixTextOf(key);
    if (isKnown?.(prefix, entry)) continue;
    listener.onIpcacheEvent({ kind: 'upsert', prefix, entry, old: undefined });
    told++;
  }
  return told;
}
