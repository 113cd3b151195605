/** Which host address becomes the tunnel endpoint of an entry (pkg/datapath/ipcache of Cilium 1.21). */
import { type NodeIPs, parseHostIP } from './node-addresses.ts';

/** The family of the packets that carry the tunnel. */
export type Underlay = 'ipv4' | 'ipv6';

export interface TunnelRules {
  /** Absent: nothing is tunnelled. */
  readonly underlay?: Underlay | undefined;
  /** Of this node. Without the address of the underlay's family every host counts as another node. */
  readonly node: NodeIPs;
}

/**
 * The tunnel to a host: under IPv4 only to IPv4 hosts that are not this node, under IPv6 to every host but this node's
 * IPv6 address, so an IPv4 host, even this node's own, becomes a tunnel too. An all-zero host is a host.
 * @param hostIP 4 or 16 bytes, as `parseHostIP` gives them
 * @returns the bytes given, or undefined for no tunnel
 */
export function tunnelEndpoint(
  { underlay, node }: TunnelRules,
  hostIP: Uint8Array | undefined,
): Uint8Array | undefined {
  if (hostIP === undefined || underlay === undefined) return undefined;
  if (underlay === 'ipv4') return hostIP.length === 4 && !isSame(hostIP, node.ipv4) ? hostIP : undefined;
  return isSame(hostIP, node.ipv6) ? undefined : hostIP;
}

/** As `tunnelEndpoint`, from text; an empty text or none is no host. */
export function tunnelOfHost(rules: TunnelRules, hostIP: string | undefined): Uint8Array | undefined {
  return hostIP === undefined ? undefined : tunnelEndpoint(rules, parseHostIP(hostIP));
}

function isSame(a: Uint8Array, b: Uint8Array | undefined): boolean {
  return b !== undefined && a.length === b.length && a.every((byte, i) => byte === b[i]);
}
