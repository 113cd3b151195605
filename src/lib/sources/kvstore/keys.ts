/** Where the kvstore keeps addresses (Cilium 1.21, pkg/kvstore and pkg/ipcache/kvstore.go). */

const STATE = 'cilium/state/ip/v1';
const CACHE = 'cilium/cache/ip/v1';
/** The address space; a constant, never the name of a cluster. */
const ADDRESS_SPACE = 'default';

/** The prefix to watch, final slash included. @param cachedCluster the cluster whose copy a mesh cache keeps */
export function watchedPrefix(cachedCluster?: string): string {
  return `${cachedCluster === undefined ? `${STATE}/${ADDRESS_SPACE}` : `${CACHE}/${cachedCluster}`}/`;
}

/** The key under which a node publishes an address or prefix. Slashes are collapsed, the last one goes. */
export function publishedKey(name: string): string {
  return `${watchedPrefix()}${name}`.replace(/\/{2,}/g, '/').replace(/\/+$/, '');
}
