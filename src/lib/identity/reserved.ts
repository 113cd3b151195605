/** The fixed numbers below 256 and what they mean (Cilium 1.21, pkg/identity and bpf/lib/common.h). */

import { hasLocalScope, type NumericIdentity, numericIdentity } from './numeric-identity.ts';
import type { IdentityOptions } from './options.ts';

export interface ReservedRow {
  readonly id: number;
  /** What prints instead of the number, and the key of its reserved label. */
  readonly name: string;
  /** One sentence for people. */
  readonly meaning: string;
}

export const IDENTITY_UNKNOWN = 0;
export const IDENTITY_HOST = 1;
export const IDENTITY_WORLD = 2;
export const IDENTITY_REMOTE_NODE = 6;
export const IDENTITY_KUBE_APISERVER = 7;
export const IDENTITY_INGRESS = 8;
export const IDENTITY_WORLD_IPV4 = 9;
export const IDENTITY_WORLD_IPV6 = 10;

/** By number; 0 is what stands for no identity, 11 to 14 occur in policy maps only. */
export const RESERVED_ROWS: readonly ReservedRow[] = [
  { id: 0, name: 'unknown', meaning: 'no identity is known; in a policy map it stands for any' },
  { id: 1, name: 'host', meaning: 'this node itself' },
  { id: 2, name: 'world', meaning: 'everything outside of the cluster' },
  { id: 3, name: 'unmanaged', meaning: 'an endpoint that Cilium does not manage' },
  { id: 4, name: 'health', meaning: 'the endpoint that answers health probes' },
  { id: 5, name: 'init', meaning: 'an endpoint whose labels are not known yet' },
  { id: 6, name: 'remote-node', meaning: 'any other node of the cluster or of the mesh' },
  { id: 7, name: 'kube-apiserver', meaning: 'a remote node that serves the Kubernetes API' },
  { id: 8, name: 'ingress', meaning: 'the address that ingress proxies connect from' },
  { id: 9, name: 'world-ipv4', meaning: 'everything outside of the cluster, over IPv4' },
  { id: 10, name: 'world-ipv6', meaning: 'everything outside of the cluster, over IPv6' },
  { id: 11, name: 'aggregate-cluster', meaning: 'in policy maps: everything in this cluster' },
  { id: 12, name: 'aggregate-cluster-mesh', meaning: 'in policy maps: everything in the mesh' },
  { id: 13, name: 'aggregate-world', meaning: 'in policy maps: everything outside of the cluster' },
  { id: 14, name: 'aggregate-remote-node', meaning: 'in policy maps: every remote node' },
];

/** The fixed number of a name; `unknown` has none that could be asked for. */
export function reservedByName(name: string): NumericIdentity | undefined {
  const row = RESERVED_ROWS.find((candidate) => candidate.name === name);
  return row === undefined || row.id === IDENTITY_UNKNOWN ? undefined : numericIdentity(row.id);
}

export function reservedRow(id: number): ReservedRow | undefined {
  return RESERVED_ROWS[id];
}

/** Whether the number means the outside world; 9 and 10 do so only where both families are on. */
export function isWorldIdentity(id: number, options: IdentityOptions): boolean {
  if (id === IDENTITY_WORLD) return true;
  return options.enableIPv4 && options.enableIPv6 && (id === IDENTITY_WORLD_IPV4 || id === IDENTITY_WORLD_IPV6);
}

/** Whether the number means something inside the cluster: neither world nor of local scope. */
export function isClusterIdentity(id: number, options: IdentityOptions): boolean {
  return !isWorldIdentity(id, options) && !hasLocalScope(id);
}

/**
 * The world number of an address of 4 or 16 bytes. With one family off it is `world` for both, although the label of an
 * address of the other family is `world-ipv4` or `world-ipv6` then (see `worldLabel`).
 */
export function worldIdentityOf(address: Uint8Array, options: IdentityOptions): NumericIdentity {
  if (!options.enableIPv4 || !options.enableIPv6) return numericIdentity(IDENTITY_WORLD);
  return numericIdentity(address.length === 4 ? IDENTITY_WORLD_IPV4 : IDENTITY_WORLD_IPV6);
}
