/** From metadata to the labels of one prefix's identity: inheritance and the rules every set must obey (Cilium 1.21). */
import { cidrLabels, worldLabel } from '../identity/cidr-labels.ts';
import { type Label, SOURCE_CIDR, SOURCE_CIDR_GROUP, SOURCE_FQDN, SOURCE_NODE, sameLabel } from '../identity/label.ts';
import { Labels } from '../identity/labels.ts';
import type { IdentityOptions } from '../identity/options.ts';
import type { Prefix } from '../net/prefix.ts';
import type { Flattened } from './resource-info.ts';

const WORLD_KEYS = ['world', 'world-ipv4', 'world-ipv6'];
const IN_CLUSTER_KEYS = ['remote-node', 'host', 'health', 'ingress'];
const SELECTING_SOURCES = [SOURCE_CIDR, SOURCE_FQDN, SOURCE_CIDR_GROUP];

/**
 * @param own what the prefix itself has
 * @param parents the labels of what covers it, longest first
 * @returns the labels to allocate; those of an override as they are
 */
export function resolveLabels(
  prefix: Prefix,
  own: Flattened,
  parents: readonly Labels[],
  options: IdentityOptions,
): Labels {
  const given = own.labels?.expand() ?? Labels.EMPTY;
  if (own.identityOverride) return given;
  if (parents.length === 0 && isOrdinary(given, prefix, options)) return given;
  const labels = new Map<string, Label>();
  for (const { mapKey, label } of given.entries()) labels.set(mapKey, label);
  inherit(labels, parents);
  const isNode = labels.has('remote-node') || labels.has('host');
  const isInCluster = isNode || labels.has('health') || labels.has('ingress');
  if (isInCluster) {
    for (const key of WORLD_KEYS) labels.delete(key);
    const selectable = isNode && options.policyCidrMatchMode.includes('nodes');
    if (!selectable) removeSources(labels, SELECTING_SOURCES);
  }
  if (!isNode || !options.perNodeLabels) removeSources(labels, [SOURCE_NODE]);
  if (labels.size === 0) return cidrLabels(prefix, options);
  if (!isInCluster) {
    const world = worldLabel(prefix.address, options);
    labels.set(world.key, world);
  }
  return toSet(labels);
}

/** Whether no rule changes the set: outside of the cluster, selected by policy, with its world label. The usual case. */
function isOrdinary(labels: Labels, { address }: Prefix, options: IdentityOptions): boolean {
  const world = worldLabel(address, options);
  let hasWorld = false;
  for (const { mapKey, label } of labels.entries()) {
    if (mapKey === world.key && sameLabel(label, world)) hasWorld = true;
    else if (!SELECTING_SOURCES.includes(label.source) || IN_CLUSTER_KEYS.includes(mapKey)) return false;
  }
  return hasWorld;
}

/** What a prefix would inherit if it were given nothing itself, before any rule is applied. */
export function inheritedLabels(parents: readonly Labels[]): Labels {
  const labels = new Map<string, Label>();
  inherit(labels, parents);
  return toSet(labels);
}

/** The nearer prefix wins a key, and there is at most one inherited cidr label, and none beside an own one. */
function inherit(labels: Map<string, Label>, parents: readonly Labels[]): void {
  let hasCidr = [...labels.values()].some((label) => label.source === SOURCE_CIDR);
  for (const parent of parents) {
    for (const { mapKey, label } of parent.entries()) {
      if (labels.has(mapKey) || (label.source === SOURCE_CIDR && hasCidr)) continue;
      labels.set(mapKey, label);
      if (label.source === SOURCE_CIDR) hasCidr = true;
    }
  }
}

function removeSources(labels: Map<string, Label>, sources: readonly string[]): void {
  for (const [key, label] of labels) if (sources.includes(label.source)) labels.delete(key);
}

function toSet(labels: ReadonlyMap<string, Label>): Labels {
  return Labels.fromEntries(Array.from(labels, ([mapKey, label]) => ({ mapKey, label })));
}
