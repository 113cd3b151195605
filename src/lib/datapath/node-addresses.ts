/**
 * Which of a node's addresses is *the* address of the node: GetNodeIP of pkg/node/addressing (Cilium 1.21), the same for
 * other nodes and for this one.
 */
import { isMapped, parseAddress } from '../net/address.ts';

export interface NodeAddress {
  /** `InternalIP`, `ExternalIP`, `CiliumInternalIP`, `Hostname` and so on. */
  readonly type: string;
  /** Text; what is no IP address is passed over. */
  readonly ip: string;
}

export interface NodeIPs {
  /** 4 bytes; absent when the node has none. */
  readonly ipv4?: Uint8Array;
  /** 16 bytes; absent when the node has none. */
  readonly ipv6?: Uint8Array;
}

/**
 * Chooses for each family the first internal address, else the last external one, else the first of any other type; the
 * address of Cilium's own router is never the node's.
 */
export function nodeIPs(addresses: readonly NodeAddress[]): NodeIPs {
  const ipv4 = choose(addresses, 4);
  const ipv6 = choose(addresses, 16);
  return { ...(ipv4 && { ipv4 }), ...(ipv6 && { ipv6 }) };
}

/** 4 bytes for IPv4, also where it is written as a v4-mapped IPv6 address. @returns undefined for anything else. */
export function parseHostIP(text: string): Uint8Array | undefined {
  const bytes = parseAddress(text);
  return bytes !== undefined && isMapped(bytes) ? bytes.slice(12) : bytes;
}

function choose(addresses: readonly NodeAddress[], length: number): Uint8Array | undefined {
  let backup: Uint8Array | undefined;
  for (const { type, ip } of addresses) {
    const bytes = parseHostIP(ip);
    if (bytes?.length !== length) continue;
    if (type === 'InternalIP') return bytes;
    if (type === 'ExternalIP') backup = bytes;
    else if (type !== 'CiliumInternalIP') backup ??= bytes;
  }
  return backup;
}
