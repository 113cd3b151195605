/** An address within a cluster, `ADDR[@CLUSTER]`, after AddrCluster in pkg/clustermesh/types of Cilium 1.21-dev. */
import { MalformedError } from '../errors.ts';
import { isMapped } from './address.ts';
import { parseClusterId } from './cluster-id.ts';
import { bitLength, compareNetipAddrs, formatNetipAddr, type NetipAddr, parseNetipAddr, ZERO_ADDR } from './netip.ts';
import { newPrefixCluster, type PrefixCluster } from './prefix-cluster.ts';

export interface AddrCluster {
  readonly addr: NetipAddr;
  /** u32. */
  readonly clusterId: number;
}

/** @throws {MalformedError} code BAD_ADDRESS, BAD_CLUSTER_ID or EMPTY_CLUSTER_ID, whichever is found first. */
export function parseAddrCluster(text: string): AddrCluster {
  const at = text.lastIndexOf('@');
  if (at < 0) return { addr: parseNetipAddr(text), clusterId: 0 };
  return { addr: parseNetipAddr(text.slice(0, at)), clusterId: parseClusterId(text.slice(at + 1)) };
}

export function formatAddrCluster({ addr, clusterId }: AddrCluster): string {
  const text = formatNetipAddr(addr);
  return clusterId === 0 ? text : `${text}@${clusterId}`;
}

/** By address, then by cluster. @returns -1, 0 or 1. */
export function compareAddrClusters(a: AddrCluster, b: AddrCluster): number {
  return compareNetipAddrs(a.addr, b.addr) || Math.sign(a.clusterId - b.clusterId);
}

/** 16 bytes of address (IPv4 as v4-mapped) and the cluster ID as big-endian u32. */
export function addrClusterAs20({ addr, clusterId }: AddrCluster): Uint8Array {
  const out = new Uint8Array(20);
  out.set(addr.bytes, 16 - addr.bytes.length);
  if (addr.bytes.length === 4) out.fill(0xff, 10, 12);
  new DataView(out.buffer).setUint32(16, clusterId);
  return out;
}

/** The prefix of full length. */
export function addrClusterAsPrefixCluster({ addr, clusterId }: AddrCluster): PrefixCluster {
  return newPrefixCluster(addr, bitLength(addr), clusterId);
}

/** Whether the address is `0.0.0.0` or `::`; `::ffff:0.0.0.0` and zones are not. */
export function isUnspecified({ addr }: AddrCluster): boolean {
  return addr.bytes.length > 0 && addr.zone === '' && !isMapped(addr.bytes) && addr.bytes.every((byte) => byte === 0);
}

/** The zero value is `""`. @throws {MalformedError} for a cluster ID without an address. */
export function marshalAddrCluster(value: AddrCluster): string {
  if (value.addr.bytes.length > 0) return JSON.stringify(formatAddrCluster(value));
  if (value.clusterId === 0) return '""';
  throw new MalformedError(`Cannot write cluster ID ${value.clusterId} as JSON: it has no address`, {
    code: 'BAD_ADDRESS',
  });
}

/** Reads a JSON string; escapes in it are not undone. @throws {MalformedError} */
export function unmarshalAddrCluster(json: string): AddrCluster {
  const text = json.trim();
  if (!/^".*"$/s.test(text)) {
    throw new MalformedError(`Cannot read address from ${text}: it is not a JSON string`, { code: 'BAD_ADDRESS' });
  }
  return text === '""' ? { addr: ZERO_ADDR, clusterId: 0 } : parseAddrCluster(text.slice(1, -1));
}
