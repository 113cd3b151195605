/** What an agent that started now would make of a map and its checkpoint: the plan of `--as-agent`. */
import { Ipcache } from '../cache/ipcache.ts';
import { CachingAllocator, type IdentityRecord } from '../identity/caching-allocator.ts';
import type { IdentityOptions } from '../identity/options.ts';
import { formatNetipPrefix } from '../net/netip.ts';
import { canonicalPrefixCluster } from '../net/prefix-cluster.ts';
import type { AgentCandidate } from './agent-candidates.ts';
import { AgentRestorer } from './as-agent.ts';

export interface Foretold {
  /** Canonical, as the agent's new map will have it. */
  readonly prefix: string;
  readonly before: number;
  /** Absent: the agent writes no such entry. */
  readonly after?: number;
}

/**
 * The agent resolves in random order, and where that matters any of several results may come; here it is the order of the
 * prefixes' text.
 * @returns one row for each entry that the agent restores, in the order of the map
 */
export function foretellAgent(
  records: readonly IdentityRecord[] | undefined,
  candidates: readonly AgentCandidate[],
  options: IdentityOptions,
): Foretold[] {
  const allocator = new CachingAllocator({ options, strictUpstream: true });
  const cache = new Ipcache({ allocator, strictUpstream: true });
  new AgentRestorer({ allocator, cache }).restore(records, candidates);
  cache.injectNow();
  return candidates.map(({ prefix: stored, identity }) => {
    const prefix = formatNetipPrefix(canonicalPrefixCluster({ prefix: stored, clusterId: 0 }).prefix);
    const after = cache.get(prefix)?.identity;
    return { prefix, before: identity, ...(after !== undefined && { after }) };
  });
}
