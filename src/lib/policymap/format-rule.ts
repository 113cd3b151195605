/** Policy rules as short text. */
import type { PolicyRule } from './policy-rule.ts';

const PROTOCOLS: Readonly<Record<number, string>> = { 1: 'icmp', 6: 'tcp', 17: 'udp', 58: 'icmpv6', 132: 'sctp' };

/** `443/tcp`, `1024-2047/udp`, `any/sctp`, `any`. */
export function formatPorts({ protocol, ports }: Pick<PolicyRule, 'protocol' | 'ports'>): string {
  if (protocol === undefined) return 'any';
  const name = PROTOCOLS[protocol] ?? String(protocol);
  if (ports === undefined) return `any/${name}`;
  return `${ports.from === ports.to ? ports.from : `${ports.from}-${ports.to}`}/${name}`;
}

/** `endpoint 1234 egress allow 443/tcp`. */
export function formatRule(rule: PolicyRule): string {
  return `endpoint ${rule.endpoint} ${rule.direction} ${rule.action} ${formatPorts(rule)}`;
}
