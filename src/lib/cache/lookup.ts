/** Questions to the cache other than by key. Those by identity and by host look at every entry. */
import type { Labels } from '../identity/labels.ts';
import { formatAddress, isMapped } from '../net/address.ts';
import { addressBits, formatPrefix, makePrefix } from '../net/prefix.ts';
import { endpointKeyOf, isEndpointKey, prefixTextOf } from './cache-key.ts';
import type { Ipcache } from './ipcache.ts';
import type { CacheEntry } from './listener.ts';
import { inheritedLabels } from './resolve-labels.ts';

export interface Match {
  readonly key: string;
  readonly entry: CacheEntry;
}

/** What an address has: its endpoint, else the longest prefix around it. v4-mapped addresses are IPv4 here. */
export function lookupAddress(cache: Ipcache, address: Uint8Array, clusterId = 0): Match | undefined {
  const bytes = isMapped(address) ? address.subarray(12) : address;
  const text = formatAddress(bytes);
  const endpoint = clusterId === 0 ? text : `${text}@${clusterId}`;
  const exact = cache.get(endpoint);
  if (exact !== undefined) return { key: endpoint, entry: exact };
  for (const length of cache.lengths.list(bytes.length === 4 ? 'ipv4' : 'ipv6')) {
    const key = formatPrefix(makePrefix(bytes, length, clusterId));
    const entry = cache.get(key);
    if (entry !== undefined) return { key, entry };
  }
  return undefined;
}

/** What listeners see for exactly this key: the endpoint, where one hides a prefix of full length. */
export function lookupKey(cache: Ipcache, key: string): Match | undefined {
  const endpoint = isEndpointKey(key) ? undefined : endpointKeyOf(key);
  const seen = endpoint !== undefined && cache.get(endpoint) !== undefined ? endpoint : key;
  const entry = cache.get(seen);
  return entry === undefined ? undefined : { key: seen, entry };
}

/** The keys with an identity, shadowed ones included. */
export function keysOfIdentity(cache: Ipcache, identity: number): string[] {
  const keys: string[] = [];
  for (const [key, entry] of cache.entries.entries()) if (entry.identity === identity) keys.push(key);
  return keys;
}

/** The prefixes that live on a host, as text; shadowed ones included. */
export function prefixesOfHost(cache: Ipcache, hostIP: string): string[] {
  const prefixes = new Set<string>();
  for (const [key, entry] of cache.entries.entries()) if (entry.hostIP === hostIP) prefixes.add(prefixTextOf(key));
  return [...prefixes];
}

/** The labels that the metadata has for an address: its own and those of every prefix around it. */
export function metadataLabelsOf(cache: Ipcache, address: Uint8Array, clusterId = 0): Labels {
  const prefix = makePrefix(address, addressBits(address.length === 4 ? 'ipv4' : 'ipv6'), clusterId);
  const own = cache.metadata.get(prefix)?.labels;
  const parents = cache.metadata.inherited(prefix);
  return inheritedLabels(own === undefined ? parents : [own, ...parents]);
}
