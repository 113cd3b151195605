/** Port names as sources give them, made comparable (Cilium 1.21, pkg/types/portmap.go and RFC 6335). */
import type { NamedPort, NamedPorts } from '../cache/listener.ts';

export interface RawPort {
  readonly name: string;
  readonly port: number;
  /** Any case; empty means TCP. */
  readonly protocol: string;
}

/** How each protocol is printed. */
const PROTOCOLS: ReadonlyMap<string, string> = new Map([
  ['all', 'ANY'],
  ['any', 'ANY'],
  ['none', 'ANY'],
  ['icmp', 'ICMP'],
  ['igmp', 'IGMP'],
  ['tcp', 'TCP'],
  ['udp', 'UDP'],
  ['icmpv6', 'ICMPv6'],
  ['vrrp', 'VRRP'],
  ['sctp', 'SCTP'],
]);

/** Names in lower case, the later of two wins; ports with a bad name, number or protocol are left out one by one. */
export function readNamedPorts(ports: Iterable<RawPort>): NamedPorts {
  const found = new Map<string, NamedPort>();
  for (const { name, port, protocol } of ports) {
    const printed = protocol === '' ? 'TCP' : PROTOCOLS.get(protocol.toLowerCase());
    if (!isServiceName(name) || printed === undefined || port < 1 || port > 65535) continue;
    found.set(name.toLowerCase(), { port, protocol: printed });
  }
  return Object.fromEntries(found);
}

/** Letters, digits and single hyphens between them, at least one letter, at most 15 characters. */
function isServiceName(name: string): boolean {
  return name.length <= 15 && /^[a-z0-9]+(-[a-z0-9]+)*$/i.test(name) && /[a-z]/i.test(name);
}
