import { clusterIdOf, localIndex, scopeOf } from '../identity/numeric-identity.ts';
import { reservedRow } from '../identity/reserved.ts';

/** What a number says about itself: `world`, `global, cluster 249`, `local 5`, `remote-node 3`. */
export function identityWords(id: number): string {
  const scope = scopeOf(id);
  switch (scope) {
    case 'reserved':
      return reservedRow(id)?.name ?? 'reserved';
    case 'global': {
      const cluster = clusterIdOf(id, { maxConnectedClusters: 255 });
      return cluster === 0 ? 'global' : `global, cluster ${cluster}`;
    }
    case 'local':
    case 'remote-node':
      return `${scope} ${localIndex(id)}`;
    case 'unknown':
      return 'unknown scope';
  }
}
