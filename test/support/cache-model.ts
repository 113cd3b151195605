/**
 * A slow and obvious model of the cache: everything is worked out from scratch each time, with plain lists and texts.
 * It knows labels, not numbers.
 */
import { SOURCES } from '../../src/lib/cache/source-rank.ts';
import { containsPrefix, type Prefix, parsePrefix } from '../../src/lib/net/prefix.ts';

export interface ModelInfo {
  readonly labels?: readonly string[];
  readonly override?: boolean;
  readonly tunnelPeer?: string;
  readonly encryptKey?: number;
  readonly endpointFlags?: number;
  readonly requestedIdentity?: number;
}

interface Resource extends ModelInfo {
  readonly source: string;
}

/** What is seen: an identity as its number, or as the labels that it stands for. */
export interface ModelValue {
  readonly who: number | string;
  readonly source: string;
  readonly host: string;
  readonly key: number;
  readonly flags: number;
}

interface Owned {
  readonly owner: string;
  readonly value: ModelValue;
  readonly since: number;
}

const METADATA = 'metadata';
const WORLD = ['reserved:world', 'reserved:world-ipv4', 'reserved:world-ipv6'];

export class CacheModel {
  /** Cache key → what each owner says. */
  readonly values = new Map<string, Owned[]>();
  /** Prefix → resource → what it says. */
  readonly metadata = new Map<string, Map<string, Resource>>();
  #clock = 0;
  readonly #matchesNodes: boolean;

  constructor(matchesNodes: boolean) {
    this.#matchesNodes = matchesNodes;
  }

  upsert(key: string, owner: string, value: ModelValue): void {
    this.#set(key, `${value.source} ${owner}`, value);
  }

  delete(key: string, owner: string, source: string, expect?: number): void {
    const name = `${source} ${owner}`;
    const present = this.values.get(key)?.find((owned) => owned.owner === name);
    if (expect === undefined || present?.value.who === expect) this.#unset(key, name);
  }

  upsertMetadata(prefix: string, resource: string, source: string, info: ModelInfo): void {
    const resources = this.metadata.get(prefix) ?? new Map<string, Resource>();
    this.metadata.set(prefix, resources);
    resources.set(resource, { ...resources.get(resource), ...info, source });
  }

  removeMetadata(prefix: string, resource: string): void {
    const resources = this.metadata.get(prefix);
    // When one goes, all go of which none says anything: a key of 0 and an empty tunnel are as good as nothing.
    if (resources?.delete(resource) && ![...resources.values()].some(saysAnything)) this.metadata.delete(prefix);
  }

  /** Works out every prefix again. */
  inject(): void {
    for (const [key, owners] of this.values) {
      if (!this.metadata.has(key) && owners.some(({ owner }) => owner === METADATA)) this.#unset(key, METADATA);
    }
    for (const prefix of this.metadata.keys()) this.#set(prefix, METADATA, this.#resolve(prefix));
  }

  /** Prefix → what the listeners must know. */
  seen(): Map<string, ModelValue> {
    const seen = new Map<string, ModelValue>();
    for (const [key, owners] of this.values) {
      const isEndpoint = !key.includes('/');
      const prefix = isEndpoint ? fullPrefix(key) : key;
      const isHidden =
        !isEndpoint && [...this.values.keys()].some((other) => !other.includes('/') && fullPrefix(other) === key);
      if (!isHidden) seen.set(prefix, strongest(owners));
    }
    return seen;
  }

  /** Labels → how many prefixes have them from the metadata. */
  users(): Map<string, number> {
    const users = new Map<string, number>();
    for (const owners of this.values.values()) {
      for (const { owner, value } of owners) {
        if (owner === METADATA) users.set(String(value.who), (users.get(String(value.who)) ?? 0) + 1);
      }
    }
    return users;
  }

  #set(key: string, owner: string, value: ModelValue): void {
    const owners = this.values.get(key) ?? [];
    const present = owners.find((owned) => owned.owner === owner);
    if (present !== undefined && JSON.stringify(present.value) === JSON.stringify(value)) return;
    this.values.set(key, [...owners.filter((owned) => owned !== present), { owner, value, since: ++this.#clock }]);
  }

  #unset(key: string, owner: string): void {
    const rest = (this.values.get(key) ?? []).filter((owned) => owned.owner !== owner);
    if (rest.length === 0) this.values.delete(key);
    else this.values.set(key, rest);
  }

  #resolve(prefix: string): ModelValue {
    const flat = this.#flatten(prefix);
    return {
      who: this.#who(this.#labels(prefix, flat)),
      source: flat.source,
      host: flat.tunnelPeer ?? '',
      key: flat.encryptKey ?? 0,
      flags: flat.endpointFlags ?? 0,
    };
  }

  /** Nodes have fixed numbers, whatever other labels they have. */
  #who(labels: readonly string[]): string {
    if (labels.includes('reserved:host')) return 'host';
    if (this.#matchesNodes || !labels.includes('reserved:remote-node')) return labels.join(' ');
    return labels.includes('reserved:kube-apiserver') ? 'kube-apiserver' : 'remote-node';
  }

  /** Resources by source, then by name; the first one that says something wins. */
  #flatten(prefix: string): Resource {
    const resources = [...(this.metadata.get(prefix) ?? [])]
      .sort(([a, x], [b, y]) => rank(x.source) - rank(y.source) || (a < b ? -1 : 1))
      .map(([, resource]) => resource);
    const override = resources.find(({ override, labels = [] }) => override === true && labels.length > 0);
    const labels = override?.labels ?? resources.flatMap(({ labels = [] }) => labels);
    const first = <T>(pick: (resource: Resource) => T | undefined): T | undefined => resources.map(pick).find(Boolean);
    return {
      source: resources[0]?.source ?? '',
      labels: override === undefined ? oneOfEachKey(labels) : labels,
      override: override !== undefined,
      tunnelPeer: first(({ tunnelPeer }) => tunnelPeer) ?? '',
      encryptKey: first(({ encryptKey }) => encryptKey) ?? 0,
      endpointFlags: resources.find(({ endpointFlags }) => endpointFlags !== undefined)?.endpointFlags ?? 0,
    };
  }

  #labels(prefix: string, { labels = [], override }: Resource): string[] {
    if (override) return sortedByKey(labels);
    let all = [...labels];
    for (const parent of this.#parents(prefix)) {
      for (const label of sortedByKey(this.#flatten(parent).labels ?? [])) {
        const isSecondCidr = label.startsWith('cidr:') && all.some((other) => other.startsWith('cidr:'));
        if (!isSecondCidr && !all.some((other) => keyOf(other) === keyOf(label))) all.push(label);
      }
    }
    const has = (name: string): boolean => all.some((label) => keyOf(label) === name);
    const isNode = has('remote-node') || has('host');
    const isInCluster = isNode || has('health') || has('ingress');
    if (isInCluster) all = all.filter((label) => !WORLD.includes(label));
    if (isInCluster && !(isNode && this.#matchesNodes))
      all = all.filter((label) => !/^(cidr|fqdn|cidrgroup):/.test(label));
    all = all.filter((label) => !label.startsWith('node:'));
    const world = prefix.includes(':') ? 'reserved:world-ipv6' : 'reserved:world-ipv4';
    if (all.length === 0)
      all = prefix.endsWith('/0')
        ? []
        : [`cidr:${prefix.replace(/@.*/, '').replace('::/', '--0/').replaceAll(':', '-')}`];
    if (!isInCluster) all = [...all.filter((label) => keyOf(label) !== keyOf(world)), world];
    return sortedByKey(all);
  }

  /** Shorter prefixes around this one, longest first. */
  #parents(prefix: string): string[] {
    const inner = parsePrefix(prefix);
    return [...this.metadata.keys()]
      .map((text): [string, Prefix] => [text, parsePrefix(text)])
      .filter(([text, outer]) => text !== prefix && containsPrefix(outer, inner))
      .sort(([, a], [, b]) => b.length - a.length)
      .map(([text]) => text);
  }
}

export function fullPrefix(endpoint: string): string {
  const [address = '', cluster] = endpoint.split('@');
  return `${address}/${address.includes(':') ? 128 : 32}${cluster === undefined ? '' : `@${cluster}`}`;
}

function strongest(owners: readonly Owned[]): ModelValue {
  const [first] = [...owners].sort((a, b) => rank(a.value.source) - rank(b.value.source) || b.since - a.since);
  if (first === undefined) throw new Error('a key without an owner');
  return first.value;
}

function rank(source: string): number {
  return [...SOURCES, ''].indexOf(source);
}

function keyOf(label: string): string {
  return label.replace(/^[^:]*:/, '').replace(/=.*$/, '');
}

function oneOfEachKey(labels: readonly string[]): string[] {
  return labels.filter((label, i) => labels.findIndex((other) => keyOf(other) === keyOf(label)) === i);
}

function sortedByKey(labels: readonly string[]): string[] {
  return [...labels].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function saysAnything({
  labels,
  override,
  tunnelPeer,
  encryptKey,
  endpointFlags,
  requestedIdentity,
}: Resource): boolean {
  const isAbout = labels !== undefined || override || endpointFlags !== undefined;
  return isAbout || Boolean(tunnelPeer) || Boolean(encryptKey) || Boolean(requestedIdentity);
}
