/** Which allocator a label set belongs to (Cilium 1.21, ScopeForLabels). */
import { SOURCE_CIDR, SOURCE_CIDR_GROUP, SOURCE_FQDN, SOURCE_NODE, SOURCE_RESERVED } from './label.ts';
import type { Labels } from './labels.ts';
import { SCOPE_GLOBAL, SCOPE_LOCAL, SCOPE_REMOTE_NODE } from './numeric-identity.ts';
import { FIXED_IDENTITY_KEY } from './reserved-identities.ts';

const LOCAL_SOURCES = new Set([SOURCE_CIDR, SOURCE_FQDN, SOURCE_CIDR_GROUP, SOURCE_RESERVED]);

/**
 * Scope bits for a set that is not itself a reserved identity (ask `ReservedIdentities` first). Remote node and ingress
 * are recognised by map key. An empty set is global.
 */
export function scopeForLabels(labels: Labels): number {
  const entries = labels.entries();
  let ingress = false;
  let reserved = false;
  let local = entries.length > 0;
  for (const { mapKey, label } of entries) {
    if (mapKey === 'remote-node') return SCOPE_REMOTE_NODE;
    if (mapKey === 'ingress') ingress = true;
    if (label.source === SOURCE_RESERVED) reserved = true;
    if (!LOCAL_SOURCES.has(label.source)) local = false;
  }
  return local || (ingress && reserved) ? SCOPE_LOCAL : SCOPE_GLOBAL;
}

/**
 * Whether labels that other resources and wider prefixes add cannot make the identity a local or a reserved one: only a
 * cluster has a number for it. Labels of nodes do not count, as what is no node loses them.
 */
export function needsGlobalIdentity(labels: Labels): boolean {
  let needs = false;
  for (const { mapKey, label } of labels.entries()) {
    if (label.source === SOURCE_RESERVED || mapKey === FIXED_IDENTITY_KEY) return false;
    if (!LOCAL_SOURCES.has(label.source) && label.source !== SOURCE_NODE) needs = true;
  }
  return needs;
}
