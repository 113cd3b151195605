/** Which allocator a label set belongs to (Cilium 1.21, ScopeForLabels). */
import { SOURCE_CIDR, SOURCE_CIDR_GROUP, SOURCE_FQDN, SOURCE_RESERVED } from './label.ts';
import type { Labels } from './labels.ts';
import { SCOPE_GLOBAL, SCOPE_LOCAL, SCOPE_REMOTE_NODE } from './numeric-identity.ts';
import { isReservedSet } from './reserved-identities.ts';

const LOCAL_SOURCES = new Set([SOURCE_CIDR, SOURCE_FQDN, SOURCE_CIDR_GROUP, SOURCE_RESERVED]);

/**
 * Scope bits for a set that is not itself a reserved identity (ask `ReservedIdentities` first). Remote node and ingress
 * are recognised by map key. An empty set is global.
 */
export function scopeForLabels(labels: Labels): number {
  if (labels.has('remote-node')) return SCOPE_REMOTE_NODE;
  if (labels.has('ingress') && isReservedSet(labels)) return SCOPE_LOCAL;
  const entries = labels.entries();
  if (entries.length === 0) return SCOPE_GLOBAL;
  return entries.every(({ label }) => LOCAL_SOURCES.has(label.source)) ? SCOPE_LOCAL : SCOPE_GLOBAL;
}
