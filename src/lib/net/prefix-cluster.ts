/**
 * A prefix within a cluster, `ADDR/LEN[@CLUSTER]`, exactly as Cilium treats it: PrefixCluster in pkg/clustermesh/types
 * and the ipcache's own idea of canonical in pkg/ipcache (1.21-dev). Host bits and v4-mapped addresses stay, the cluster
 * ID has 32 bits. What users type goes through prefix.ts instead.
 */
import { isMapped } from './address.ts';
import { parseClusterId } from './cluster-id.ts';
import {
  bitLength,
  formatNetipPrefix,
  maskNetipPrefix,
  type NetipAddr,
  type NetipPrefix,
  netipPrefixFrom,
  parseNetipPrefix,
} from './netip.ts';

export interface PrefixCluster {
  readonly prefix: NetipPrefix;
  /** u32; the map key has room for its low 16 bits only. */
  readonly clusterId: number;
}

/** @throws {MalformedError} code BAD_PREFIX, BAD_CLUSTER_ID or EMPTY_CLUSTER_ID, whichever is found first. */
export function parsePrefixCluster(text: string): PrefixCluster {
  const at = text.lastIndexOf('@');
  if (at < 0) return { prefix: parseNetipPrefix(text), clusterId: 0 };
  return { prefix: parseNetipPrefix(text.slice(0, at)), clusterId: parseClusterId(text.slice(at + 1)) };
}

/** A length outside the address makes it invalid; a zone is dropped. */
export function newPrefixCluster(addr: NetipAddr, bits: number, clusterId: number): PrefixCluster {
  return { prefix: netipPrefixFrom(addr, bits), clusterId };
}

export function formatPrefixCluster({ prefix, clusterId }: PrefixCluster): string {
  const text = formatNetipPrefix(prefix);
  return clusterId === 0 ? text : `${text}@${clusterId}`;
}

/**
 * The form in which the ipcache's metadata keeps a prefix: host bits masked, v4-mapped addresses made IPv4 *without*
 * subtracting 96 from the length, so `::ffff:10.1.2.3/24` becomes `10.1.2.0/24`. What would not fit (v4-mapped beyond
 * /32, invalid) stays exactly as it was, host bits included.
 */
export function canonicalPrefixCluster(value: PrefixCluster): PrefixCluster {
  const { addr, bits } = value.prefix;
  const unmapped = isMapped(addr.bytes) ? { bytes: addr.bytes.subarray(12), zone: '' } : addr;
  if (bits < 0 || bits > bitLength(unmapped)) return value;
  return { prefix: maskNetipPrefix({ addr: unmapped, bits }), clusterId: value.clusterId };
}

/** Whether the prefix covers exactly one address. */
export function isSingleIP({ prefix }: PrefixCluster): boolean {
  return prefix.bits >= 0 && prefix.bits === bitLength(prefix.addr);
}

/** Appends the cluster to a cache key, also 0 and also where one is already: the result is another key. */
export function annotateIPCacheKeyWithClusterID(key: string, clusterId: number): string {
  return `${key}@${clusterId}`;
}
