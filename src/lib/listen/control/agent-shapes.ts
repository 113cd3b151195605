/** What the cache has in the shapes of the agent's own API (api/v1/openapi.yaml of Cilium 1.21): without cluster IDs. */
import { prefixTextOf } from '../../cache/cache-key.ts';
import type { Ipcache } from '../../cache/ipcache.ts';
import { UsageError } from '../../errors.ts';
import type { CachingAllocator } from '../../identity/caching-allocator.ts';
import type { Labels } from '../../identity/labels.ts';
import { labelsModel } from '../../identity/labels-format.ts';
import { RESERVED_ROWS } from '../../identity/reserved.ts';
import { containsPrefix, type Prefix, parsePrefix } from '../../net/prefix.ts';

/** IPListEntry. */
export interface IpListEntry {
  readonly cidr: string;
  readonly identity: number;
  readonly hostIP?: string;
  readonly encryptKey?: number;
  readonly metadata?: { readonly source: string; readonly namespace: string; readonly name: string };
}

export interface IdentityModel {
  readonly id: number;
  readonly labels: readonly string[];
}

export interface IpFilter {
  readonly within: Prefix | undefined;
  /** `source:key=value`; every one of them is wanted. */
  readonly labels: readonly string[];
}

/** Everything that is not shadowed. */
export function* ipList(cache: Ipcache, allocator: CachingAllocator, filter: IpFilter): Generator<IpListEntry> {
  const labelled = new Map<number, boolean>();
  for (const [key, entry] of cache.entries.entries()) {
    const prefix = prefixTextOf(key);
    if (cache.entries.isShadowed(key)) continue;
    if (filter.within !== undefined && !containsPrefix(filter.within, parsePrefix(prefix))) continue;
    if (filter.labels.length > 0) {
      let has = labelled.get(entry.identity);
      if (has === undefined) {
        has = hasLabels(allocator.lookupById(entry.identity)?.labels, filter.labels);
        labelled.set(entry.identity, has);
      }
      if (!has) continue;
    }
    const at = prefix.indexOf('@');
    const { pod } = entry;
    yield {
      cidr: at < 0 ? prefix : prefix.slice(0, at),
      identity: entry.identity,
      ...(entry.hostIP !== undefined && { hostIP: entry.hostIP }),
      ...(entry.encryptKey !== 0 && { encryptKey: entry.encryptKey }),
      ...(pod !== undefined && { metadata: { source: entry.source, namespace: pod.namespace, name: pod.name } }),
    };
  }
}

/** Reserved and local identities, by number. */
export function identityList(allocator: CachingAllocator, labels: readonly string[]): IdentityModel[] {
  const reserved = RESERVED_ROWS.flatMap(({ id }) => allocator.reserved.lookupById(id) ?? []);
  return [...reserved, ...allocator.identities()]
    .filter((identity) => hasLabels(identity.labels, labels))
    .sort((a, b) => a.id - b.id)
    .map((identity) => ({ id: identity.id, labels: labelsModel(identity.labels) }));
}

/** @returns undefined for a number that nothing has here */
export function identityById(allocator: CachingAllocator, id: number): IdentityModel | undefined {
  const identity = allocator.lookupById(id);
  return identity && { id: identity.id, labels: labelsModel(identity.labels) };
}

/** The body of a request for addresses or identities: a list of labels. @throws {UsageError} BAD_BODY */
export function readLabelFilter(body: string): readonly string[] {
  if (body.trim() === '') return [];
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    value = undefined;
  }
  if (value === null) return [];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw new UsageError('Cannot read the body of the request: it is not a JSON list of labels', { code: 'BAD_BODY' });
}

function hasLabels(labels: Labels | undefined, wanted: readonly string[]): boolean {
  if (wanted.length === 0) return true;
  if (labels === undefined) return false;
  const list = labelsModel(labels);
  return wanted.every((text) => list.includes(text));
}
