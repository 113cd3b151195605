/** Runs the steps of topics 9, 10, 12 and 13 on a cache and prints what happened in the shape of the cases. */
import { expect } from 'vitest';
import { parseCacheKey } from '../../src/lib/cache/cache-key.ts';
import type { DirectValue } from '../../src/lib/cache/entry-store.ts';
import { Ipcache } from '../../src/lib/cache/ipcache.ts';
import type { CacheEntry, IpcacheEvent, PodMetadata } from '../../src/lib/cache/listener.ts';
import type { CacheProblem } from '../../src/lib/cache/problem.ts';
import { samePod } from '../../src/lib/cache/same-entry.ts';
import type { UpstreamEntry } from '../../src/lib/cache/upstream-entry.ts';
import { ToolError } from '../../src/lib/errors.ts';
import { CachingAllocator, type SelectorUpdate } from '../../src/lib/identity/caching-allocator.ts';
import { formatLabel } from '../../src/lib/identity/label.ts';
import { Labels } from '../../src/lib/identity/labels.ts';
import { labelArray, labelsModel } from '../../src/lib/identity/labels-format.ts';
import { numericIdentity } from '../../src/lib/identity/numeric-identity.ts';
import { parseAddrCluster } from '../../src/lib/net/addr-cluster.ts';
import { formatAddress, isMapped, parseAddress } from '../../src/lib/net/address.ts';
import type { Prefix } from '../../src/lib/net/prefix.ts';
import { canonicalPrefixCluster, parsePrefixCluster } from '../../src/lib/net/prefix-cluster.ts';

export interface GoldenOptions {
  readonly enableIPv4?: boolean;
  readonly enableIPv6?: boolean;
  readonly policyCIDRMatchMode?: readonly string[];
  readonly enableNodeSelectorLabels?: boolean;
}

export interface GoldenK8s {
  readonly namespace?: string;
  readonly podName?: string;
  readonly namedPorts?: Readonly<Record<string, { readonly port: number; readonly proto: string }>>;
}

export interface GoldenUpsert {
  readonly ip?: string;
  readonly hostIP?: string;
  readonly hostKey?: number;
  readonly k8s?: GoldenK8s;
  readonly id?: number;
  readonly source?: string;
}

export interface CacheHarnessSetup {
  readonly strictUpstream: boolean;
  readonly options?: GoldenOptions | undefined;
  readonly claims?: readonly string[] | undefined;
  readonly isReady?: boolean | undefined;
}

export class CacheHarness {
  readonly strictUpstream: boolean;
  readonly allocator: CachingAllocator;
  readonly cache: Ipcache;
  readonly #options = {
    enableIPv4: false,
    enableIPv6: false,
    policyCidrMatchMode: [] as readonly string[],
    perNodeLabels: false,
    maxConnectedClusters: 255 as const,
  };
  #events: IpcacheEvent[] = [];
  #updates: SelectorUpdate[] = [];
  #problems: CacheProblem[] = [];
  /** Prefix → what the listeners were told last. */
  readonly #told = new Map<string, string>();
  /** References that steps took from the allocator directly. */
  readonly #heldOutside = new Map<number, number>();

  constructor({ strictUpstream, options, claims, isReady }: CacheHarnessSetup) {
    this.strictUpstream = strictUpstream;
    this.setOptions(options ?? {});
    const onSelectorUpdate = (update: SelectorUpdate) => this.#updates.push(update);
    this.allocator = new CachingAllocator({ options: this.#options, onSelectorUpdate, strictUpstream });
    const claimed = new Set(claims);
    this.cache = new Ipcache({
      allocator: this.allocator,
      isClaimed: (key) => claimed.has(key),
      startsReady: isReady ?? true,
      onIdentitiesAdded: (added) => this.#updates.push({ added, deleted: [] }),
      onProblem: (problem) => this.#problems.push(problem),
      strictUpstream,
    });
    this.cache.addListener({ onIpcacheEvent: (event) => this.#onEvent(event) });
  }

  /** The allocator and the cache look at the options each time. */
  setOptions(options: GoldenOptions): void {
    this.#options.enableIPv4 = options.enableIPv4 ?? false;
    this.#options.enableIPv6 = options.enableIPv6 ?? false;
    this.#options.policyCidrMatchMode = options.policyCIDRMatchMode ?? [];
    this.#options.perNodeLabels = options.enableNodeSelectorLabels ?? false;
  }

  upsert({ ip = '', hostIP, hostKey, k8s, id = 0, source = '' }: GoldenUpsert) {
    return this.upsertValue(ip, {
      identity: id,
      source,
      hostIP: canonicalAddress(hostIP),
      encryptKey: hostKey ?? 0,
      pod: k8s === undefined || k8s === null ? undefined : podOf(k8s),
    });
  }

  upsertValue(ip: string, value: DirectValue) {
    const key = this.key(ip);
    if (key === undefined) {
      const error = `attempt to upsert invalid IP ${JSON.stringify(ip)} into ipcache layer`;
      return { error, errorClass: 'invalid-ip', namedPortsChanged: false };
    }
    const outcome = this.cache.upsert(key, value);
    if (outcome.kind !== 'outranked') return { error: null, namedPortsChanged: outcome.namedPortsChanged };
    const error = `unable to overwrite source "${outcome.by}" with source "${value.source}"`;
    return { error, errorClass: 'overwrite', namedPortsChanged: false };
  }

  delete(ip: string, source: string, pod?: Pick<PodMetadata, 'namespace' | 'name'>) {
    const outcome = this.cache.delete(this.key(ip) ?? ip, { source, ...(pod ? { pod } : {}) });
    return { namedPortsChanged: 'namedPortsChanged' in outcome && outcome.namedPortsChanged };
  }

  allocateLocal(labels: readonly string[], requested: number) {
    try {
      const result = this.allocator.allocateLocalIdentity(Labels.parse(labels), { requested, notify: true });
      this.#holdOutside(result.identity.id, 1);
      return { error: null, id: result.identity.id, isNew: result.isNew };
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      return { error: error.message, id: 0, isNew: false };
    }
  }

  releaseLocal(ids: readonly number[]) {
    for (const id of ids) this.#holdOutside(id, -1);
    const { deallocated, nonLocal } = this.allocator.releaseLocalIdentities(ids.map(numericIdentity));
    return { deallocated, error: nonLocal.length === 0 ? null : 'not local' };
  }

  /** As the agent does after every change of metadata. */
  inject() {
    const queued = this.cache.queued.sort();
    const result = this.cache.injectNow();
    if (result === undefined) {
      return { queued, injected: queued, remaining: queued, injectError: 'k8s cache not fully synced' };
    }
    const remaining = result.remaining.map(({ key }) => key).sort();
    return {
      queued,
      injected: queued,
      remaining,
      injectError: result.error === undefined ? null : result.error.message,
    };
  }

  /** The cache's key for text: upstream takes any spelling as it is. @returns undefined for what is no address */
  key(ip: string): string | undefined {
    try {
      if (!this.strictUpstream) return parseCacheKey(ip);
      if (ip.includes('/')) parsePrefixCluster(ip);
      else parseAddrCluster(ip);
      return ip;
    } catch {
      return undefined;
    }
  }

  takeEvents() {
    const events = this.#events.map((event) => this.event(event));
    this.#events = [];
    return events;
  }

  takeSelectorUpdates() {
    const updates = this.#updates.map(({ added, deleted }) => ({
      added: Object.fromEntries([...added].map(([id, labels]) => [String(id), labelArray(labels).map(formatLabel)])),
      deleted: [...deleted].sort((a, b) => a - b),
    }));
    this.#updates = [];
    return updates;
  }

  takeProblems(): CacheProblem[] {
    const problems = this.#problems;
    this.#problems = [];
    return problems;
  }

  /** What must hold after every step in our own mode. */
  checkInvariants(): void {
    const kept = new Map<string, string>();
    this.cache.replay({ onIpcacheEvent: (event) => kept.set(event.prefix, inMap(event.entry)) });
    expect(Object.fromEntries(this.#told), 'events replayed give the unshadowed cache').toEqual(
      Object.fromEntries(kept),
    );
    const users = new Map(this.#heldOutside);
    for (const { held } of this.cache.metadata.states()) {
      if (this.allocator.reserved.lookupById(held) === undefined && held >= 0)
        users.set(held, (users.get(held) ?? 0) + 1);
    }
    const references = [...this.allocator.identities()].map(({ id, refCount }) => [id, refCount] as const);
    expect(new Map(references), 'references equal users').toEqual(users);
  }

  #onEvent(event: IpcacheEvent): void {
    this.#events.push(event);
    if (event.kind === 'delete') {
      expect(this.#told.delete(event.prefix), `a delete of ${event.prefix} that nobody was told of`).toBe(true);
      return;
    }
    const value = inMap(event.entry);
    const { old, entry } = event;
    const isChange =
      this.#told.get(event.prefix) !== value || old?.source !== entry.source || !samePod(old.pod, entry.pod);
    if (!this.strictUpstream) expect(isChange, `an event of ${event.prefix} without a change`).toBe(true);
    this.#told.set(event.prefix, value);
  }

  event(event: IpcacheEvent) {
    const { entry } = event;
    const old = event.kind === 'upsert' ? event.old : undefined;
    const isDelete = event.kind === 'delete';
    return {
      modification: isDelete ? 'Delete' : 'Upsert',
      prefix: event.prefix,
      oldHostIP: (isDelete ? entry : old)?.hostIP ?? null,
      newHostIP: isDelete ? null : (entry.hostIP ?? null),
      oldIdentity: old === undefined ? null : this.identity(old),
      newIdentity: this.identity(entry),
      encryptKey: entry.encryptKey,
      k8s: k8sOf(entry.pod),
      endpointFlags: entry.endpointFlags,
    };
  }

  identity(entry: CacheEntry | undefined) {
    const { identity = 0, source = '' } = entry ?? {};
    if (!this.strictUpstream) return { id: identity, source };
    const marks = entry as UpstreamEntry | undefined;
    return {
      id: identity,
      source,
      overwrittenLegacySource: marks?.overwrittenDirectSource ?? '',
      modifiedByLegacyAPI: marks?.modifiedByDirect ?? false,
      shadowed: marks?.shadowed ?? false,
    };
  }

  entries() {
    return [...this.cache.entries.entries()]
      .map(([key, entry]) => ({
        key,
        ...this.identity(entry),
        hostIP: entry.hostIP ?? null,
        encryptKey: entry.encryptKey,
        endpointFlags: entry.endpointFlags,
        k8s: k8sOf(entry.pod),
      }))
      .sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  state() {
    const cidrRefs = Object.fromEntries(this.cache.metadata.cidrCounts);
    return {
      entries: this.entries(),
      identities: [...this.allocator.identities()]
        .map(({ id, labels, refCount }) => ({ id, labels: labelsModel(labels), refcount: refCount }))
        .sort((a, b) => a.id - b.id),
      metadata: this.#metadata(),
      hostLabels: labelsModel(this.cache.hostLabels),
      withheld: [...this.allocator.local.withheld, ...this.allocator.remoteNode.withheld].sort((a, b) => a - b),
      ...(Object.keys(cidrRefs).length > 0 ? { cidrRefs } : {}),
    };
  }

  #holdOutside(id: number, by: 1 | -1): void {
    if (this.allocator.lookupById(id)?.refCount === 0) return;
    const held = (this.#heldOutside.get(id) ?? 0) + by;
    if (held > 0) this.#heldOutside.set(id, held);
    else this.#heldOutside.delete(id);
  }

  #metadata() {
    const found = [];
    for (const { key, flattened, resources } of this.cache.metadata.states()) {
      if (flattened === undefined) continue;
      found.push({
        prefix: key,
        resources: resources.map(({ resource }) => resource).sort(),
        source: flattened.source,
        labels: labelsModel(flattened.labels ?? Labels.EMPTY),
        identityOverride: flattened.identityOverride,
        tunnelPeer: flattened.tunnelPeer,
        encryptKey: flattened.encryptKey,
        requestedIdentity: flattened.requestedIdentity,
        endpointFlags: flattened.endpointFlags < 0 ? null : flattened.endpointFlags,
      });
    }
    return found.sort((a, b) => (a.prefix < b.prefix ? -1 : 1));
  }
}

/** A prefix as upstream's metadata keeps it: canonical after its own idea, which leaves some host bits. */
export function metadataPrefix(text: string): Prefix {
  const { prefix, clusterId } = canonicalPrefixCluster(parsePrefixCluster(text));
  const family = prefix.addr.bytes.length === 4 ? 'ipv4' : 'ipv6';
  return { family, address: prefix.addr.bytes, length: prefix.bits, clusterId };
}

/** Sorted as in the cases: upserts before deletes, then by prefix; events of one prefix keep their order. */
export function sortedEvents<T extends { readonly modification: string; readonly prefix: string }>(
  events: readonly T[],
): T[] {
  const rank = ({ modification }: T): number => (modification === 'Upsert' ? 0 : 1);
  return [...events].sort((a, b) => rank(a) - rank(b) || (a.prefix < b.prefix ? -1 : a.prefix > b.prefix ? 1 : 0));
}

function inMap({ identity, hostIP, encryptKey, endpointFlags }: CacheEntry): string {
  return JSON.stringify([identity, hostIP ?? null, encryptKey, endpointFlags]);
}

function canonicalAddress(text: string | undefined | null): string | undefined {
  const bytes = text ? parseAddress(text) : undefined;
  return bytes === undefined ? undefined : formatAddress(isMapped(bytes) ? bytes.subarray(12) : bytes);
}

function podOf({ namespace = '', podName = '', namedPorts }: GoldenK8s): PodMetadata {
  const ports = Object.entries(namedPorts ?? {}).map(([name, { port, proto }]) => [name, { port, protocol: proto }]);
  return { namespace, name: podName, namedPorts: Object.fromEntries(ports) };
}

export function k8sOf(pod: PodMetadata | undefined) {
  if (pod === undefined) return null;
  const ports = Object.entries(pod.namedPorts ?? {}).map(([name, { port, protocol }]) => [
    name,
    { port, proto: protocol },
  ]);
  return { namespace: pod.namespace, podName: pod.name, namedPorts: Object.fromEntries(ports) };
}
