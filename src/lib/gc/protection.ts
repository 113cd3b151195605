/** What garbage collection never touches, each with its word. */
import type { MapRows } from './map-rows.ts';

/**
 * - `default-route`: a /0 decides about every address without an entry
 * - `host`: this node itself
 * - `ingress`: kept for as long as the node lives
 * - `not-a-prefix`: a dead or catch-all key, which no source can have
 * - `other-cluster`, `other-scope`: nobody who was asked speaks for such entries
 */
export type Protection = 'default-route' | 'host' | 'ingress' | 'not-a-prefix' | 'other-cluster' | 'other-scope';

const HOST = 1;
const INGRESS = 8;

/** Why the row stays whatever anybody says. */
export function protectionOf(rows: MapRows, row: number): Protection | undefined {
  if (!rows.isPrefix(row)) return 'not-a-prefix';
  if (rows.length(row) === 0) return 'default-route';
  const identity = rows.identity(row);
  if (identity === HOST) return 'host';
  return identity === INGRESS ? 'ingress' : undefined;
}

/** Whether the entry is of a node: reached through a tunnel to one of its addresses, or the address itself. */
export function isOfNode(rows: MapRows, row: number, nodes: ReadonlySet<string>): boolean {
  const { tunnelEndpoint, prefix, family } = rows.entry(row);
  if (tunnelEndpoint !== undefined && nodes.has(tunnelEndpoint)) return true;
  const bits = family === 'ipv6' ? '/128' : '/32';
  return prefix.endsWith(bits) && nodes.has(prefix.slice(0, -bits.length));
}
