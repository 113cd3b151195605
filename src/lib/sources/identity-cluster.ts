/** Whether a number may stand behind a prefix of another cluster. */
import { clusterIdOf, MIN_GLOBAL, scopeOf } from '../identity/numeric-identity.ts';
import { EventFault } from './event-fault.ts';

const CLUSTERS = { maxConnectedClusters: 255 } as const;

/**
 * A prefix with a cluster ID has a number of that cluster or a reserved one; the local numbers of another node mean
 * nothing here (Cilium 1.21, pkg/ipcache/kvstore.go).
 * @throws {EventFault}
 */
export function checkCluster(key: string, identity: number): void {
  const at = key.indexOf('@');
  if (at < 0 || identity < MIN_GLOBAL) return;
  const cluster = Number(key.slice(at + 1));
  if (scopeOf(identity) !== 'global') {
    throw new EventFault(
      'identity',
      `${identity} is of ${scopeOf(identity)} scope, which cluster ${cluster} does not share`,
    );
  }
  const owner = clusterIdOf(identity, CLUSTERS);
  if (owner !== cluster)
    throw new EventFault('identity', `${identity} is of cluster ${owner}, not of cluster ${cluster}`);
}
