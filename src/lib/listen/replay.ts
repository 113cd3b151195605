/** Everything the cache shows, told to a listener again in short turns: half a million entries would hold the loop for long. */
import { setImmediate } from 'node:timers/promises';
import { prefixTextOf } from '../cache/cache-key.ts';
import type { Ipcache } from '../cache/ipcache.ts';
import type { IpcacheListener } from '../cache/listener.ts';

/** About a millisecond of work. */
const TURN_ENTRIES = 512;

/** What changes meanwhile reaches the listener by itself; told twice is no harm. @returns how many entries were told */
export async function replayInTurns(
  cache: Ipcache,
  listener: IpcacheListener,
  drained: () => Promise<void> | undefined,
): Promise<number> {
  let told = 0;
  for (const [key, entry] of cache.entries.entries()) {
    if (cache.entries.isShadowed(key)) continue;
    listener.onIpcacheEvent({ kind: 'upsert', prefix: prefixTextOf(key), entry, old: undefined });
    if (++told % TURN_ENTRIES !== 0) continue;
    await setImmediate();
    await drained();
  }
  return told;
}
