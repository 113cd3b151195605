/** Ends the placeholders of a cache: what somebody else claims by now stays, the rest goes with its numbers. */
import { setImmediate } from 'node:timers/promises';
import type { Ipcache } from '../cache/ipcache.ts';
import { INFO_KINDS } from '../cache/resource-info.ts';
import type { CachingAllocator } from '../identity/caching-allocator.ts';
import { parsePrefix } from '../net/prefix.ts';
import { RESTORED_RESOURCE, RESTORED_SOURCE } from '../restore/resources.ts';
import { RESTORED_OWNER, type RestoredCache } from './restore-cache.ts';

/** Short, because every removal looks for narrower prefixes. */
const TURN_PREFIXES = 256;

export interface ReleaseCacheOptions {
  readonly cache: Ipcache;
  readonly allocator: CachingAllocator;
  readonly restored: RestoredCache;
  /** Settles when the map has everything that the cache told until now. */
  readonly written: () => Promise<void>;
}

/** @returns how many identities nothing has any more, once the cache has settled */
export async function releaseCache({ cache, allocator, restored, written }: ReleaseCacheOptions): Promise<number> {
  const before = allocator.size;
  let revision = 0;
  let count = 0;
  for (const { prefix: key } of restored.placeholders) {
    if (++count % TURN_PREFIXES === 0) await setImmediate();
    cache.entries.delete(key, { source: RESTORED_SOURCE, owner: RESTORED_OWNER });
    const prefix = parsePrefix(key);
    revision = cache.removeMetadata([{ prefix, resource: RESTORED_RESOURCE, what: INFO_KINDS }]);
  }
  if (revision > 0) await cache.waitForRevision(revision);
  allocator.releaseRestoredIdentities();
  // A number must not be given away again while the map still has an entry with it.
  await written();
  allocator.unwithhold(restored.withheld);
  return Math.max(0, before - allocator.size);
}
