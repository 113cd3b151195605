/**
 * What Cilium's agent does with its checkpoint and its outgoing map when it starts, and at the end of its grace period
 * (pkg/ipcache/restore, 1.21-dev). It begins a new map, so numbers of shared entries without labels change; `ipc` itself
 * restores by other rules, in plan.ts.
 */
import type { Ipcache } from '../cache/ipcache.ts';
import type { MetadataUpdate } from '../cache/metadata.ts';
import type { CachingAllocator, IdentityRecord } from '../identity/caching-allocator.ts';
import { cidrLabels } from '../identity/cidr-labels.ts';
import { Labels } from '../identity/labels.ts';
import type { Identity } from '../identity/local-allocator.ts';
import { type NumericIdentity, numericIdentity } from '../identity/numeric-identity.ts';
import { IDENTITY_INGRESS } from '../identity/reserved.ts';
import { formatNetipAddr, formatNetipPrefix, type NetipPrefix } from '../net/netip.ts';
import type { Prefix } from '../net/prefix.ts';
import { canonicalPrefixCluster } from '../net/prefix-cluster.ts';
import type { AgentCandidate } from './agent-candidates.ts';
import { INGRESS_LABEL, INGRESS_RESOURCE, RESTORED_RESOURCE, RESTORED_SOURCE } from './resources.ts';

export interface AgentRestorerSetup {
  readonly allocator: CachingAllocator;
  /** With `strictUpstream`, to be the agent's in everything. */
  readonly cache: Ipcache;
}

interface Restored {
  readonly prefix: NetipPrefix;
  readonly identity: number;
}

export class AgentRestorer {
  readonly #allocator: CachingAllocator;
  readonly #cache: Ipcache;
  readonly #restored = new Map<string, Restored>();
  #identities: ReadonlyMap<NumericIdentity, Identity> = new Map();
  #withheld: readonly NumericIdentity[] = [];
  /** The node's ingress addresses as the agent takes them from its map; of several the first one. */
  readonly ingress: { ipv4?: string; ipv6?: string } = {};

  constructor({ allocator, cache }: AgentRestorerSetup) {
    this.#allocator = allocator;
    this.#cache = cache;
  }

  /** Prefix as stored → number, until the release. */
  get prefixes(): ReadonlyMap<string, number> {
    return new Map([...this.#restored].map(([text, { identity }]) => [text, identity]));
  }

  /** Numbers that the checkpoint gave, until the release. */
  get identities(): ReadonlyMap<NumericIdentity, Identity> {
    return this.#identities;
  }

  /**
   * Allocates what the checkpoint has and queues metadata for what the map has; nothing is resolved yet.
   * @param records undefined when there is no checkpoint, or none that can be read
   * @param candidates in the order of the map; of two with one prefix the later one counts
   */
  restore(records: readonly IdentityRecord[] | undefined, candidates: Iterable<AgentCandidate>): void {
    this.#identities = new Map(this.#allocator.restoreLocalIdentities(records));
    const updates: MetadataUpdate[] = [];
    for (const { prefix, identity } of candidates) {
      if (identity === IDENTITY_INGRESS) updates.push(...this.#ingress(prefix));
      else this.#restored.set(formatNetipPrefix(prefix), { prefix, identity });
    }
    const uses = countUses(this.#restored.values());
    const withheld = new Set<NumericIdentity>();
    for (const { prefix, identity } of this.#restored.values()) {
      const known = this.#identities.get(numericIdentity(identity));
      if (known === undefined) withheld.add(numericIdentity(identity));
      const metadata = metadataPrefix(prefix);
      if (metadata === undefined) continue;
      const guessed = uses.get(identity) === 1 ? cidrLabels(cidrOf(prefix), this.#allocator.options) : undefined;
      const info =
        known !== undefined
          ? { labels: known.labels }
          : { requestedIdentity: identity, ...(guessed && { labels: guessed }) };
      updates.push({ prefix: metadata, source: RESTORED_SOURCE, resource: RESTORED_RESOURCE, info });
    }
    this.#withheld = [...withheld];
    this.#allocator.withhold(this.#withheld);
    this.#cache.upsertMetadata(updates);
  }

  /** Ends what `restore` began; takes effect when the cache next resolves. Calling it again does nothing. */
  release(): void {
    this.#allocator.releaseRestoredIdentities();
    const what = ['requestedIdentity', 'labels'] as const;
    const prefixes = [...this.#restored.values()].map(({ prefix }) => metadataPrefix(prefix));
    this.#cache.removeMetadata(
      prefixes
        .filter((prefix) => prefix !== undefined)
        .map((prefix) => ({ prefix, resource: RESTORED_RESOURCE, what })),
    );
    this.#allocator.unwithhold(this.#withheld);
    this.#withheld = [];
    this.#restored.clear();
    this.#identities = new Map();
  }

  #ingress(stored: NetipPrefix): MetadataUpdate[] {
    const prefix = metadataPrefix(stored);
    if (prefix === undefined) return [];
    const address = formatNetipAddr(stored.addr);
    if (stored.addr.bytes.length === 4) this.ingress.ipv4 ??= address;
    else this.ingress.ipv6 ??= address;
    const labels = Labels.parse([INGRESS_LABEL]);
    return [{ prefix, source: RESTORED_SOURCE, resource: INGRESS_RESOURCE, info: { labels } }];
  }
}

function countUses(restored: Iterable<Restored>): ReadonlyMap<number, number> {
  const uses = new Map<number, number>();
  for (const { identity } of restored) uses.set(identity, (uses.get(identity) ?? 0) + 1);
  return uses;
}

/** The form in which the agent's metadata keeps a prefix. @returns undefined for the invalid one, which nothing can hold */
function metadataPrefix(prefix: NetipPrefix): Prefix | undefined {
  const { addr, bits } = canonicalPrefixCluster({ prefix, clusterId: 0 }).prefix;
  if (bits < 0) return undefined;
  return { family: addr.bytes.length === 4 ? 'ipv4' : 'ipv6', address: addr.bytes, length: bits, clusterId: 0 };
}

function cidrOf({ addr, bits }: NetipPrefix) {
  return { address: addr.bytes, length: bits };
}
