/**
 * The cache as NDJSON: a first line that says how complete it is, a line for each entry, a last line with their number.
 * Without the last line it was cut off.
 */
import { isEndpointKey, prefixTextOf } from '../../cache/cache-key.ts';
import type { CacheEntry } from '../../cache/listener.ts';
import { canonicalLabels } from '../../identity/label-resolver.ts';
import type { NumericIdentity } from '../../identity/numeric-identity.ts';
import { formatPrefix, type Prefix } from '../../net/prefix.ts';
import type { AgentLoop } from '../agent-loop.ts';
import { timeText } from '../clock.ts';
import type { LoopParts } from '../loop-parts.ts';

/** @param only one prefix, with the resources that its metadata comes from and since when it is what it is */
export function* dumpLines(loop: AgentLoop, parts: LoopParts, only: Prefix | undefined): Generator<string> {
  const { sources, cache } = parts;
  yield line({
    kind: 'listen-dump',
    schemaVersion: 1,
    time: timeText(loop.setup.clock.now()),
    pin: loop.setup.pin,
    started: timeText(loop.started),
    synced: sources.isSynced,
    ready: loop.isReady,
    sources: sources.states,
  });
  let entries = 0;
  for (const item of only === undefined ? allItems(parts) : oneItem(loop, parts, only)) {
    entries++;
    yield line(item);
  }
  yield line({ end: true, entries, queued: cache.queueLength, pending: parts.follower.writer.pending });
}

function* allItems(parts: LoopParts): Generator<object> {
  const labels = new Map<number, readonly string[] | undefined>();
  for (const [key, entry] of parts.cache.entries.entries()) {
    let known = labels.get(entry.identity);
    if (known === undefined && !labels.has(entry.identity)) {
      known = labelsOf(parts, entry.identity);
      labels.set(entry.identity, known);
    }
    yield item(parts, key, entry, known);
  }
}

function* oneItem(loop: AgentLoop, parts: LoopParts, prefix: Prefix): Generator<object> {
  const { cache, sources } = parts;
  const text = formatPrefix(prefix);
  const state = [...cache.metadata.states()].find(({ key }) => key === text);
  const resources = state?.resources.map(({ resource, source, labels }) => ({
    resource,
    source,
    ...(labels !== undefined && { labels: canonicalLabels(labels) }),
  }));
  const address = text.slice(0, text.indexOf('/')) + (text.includes('@') ? text.slice(text.indexOf('@')) : '');
  for (const key of [address, text]) {
    const entry = cache.get(key);
    if (entry === undefined || prefixTextOf(key) !== text) continue;
    const since = loop.started + (cache.entries.sinceOf(key) ?? 0) * 1000;
    yield {
      ...item(parts, key, entry, labelsOf(parts, entry.identity)),
      since: timeText(since),
      // What sources list when they begin may have been so before.
      ...(since <= (sources.syncedAt ?? Number.POSITIVE_INFINITY) && { sinceStart: true }),
      ...(resources !== undefined && !isEndpointKey(key) && { resources }),
    };
  }
}

function item({ cache }: LoopParts, key: string, entry: CacheEntry, labels: readonly string[] | undefined): object {
  const { identity, source, hostIP, encryptKey, endpointFlags, pod } = entry;
  return {
    prefix: prefixTextOf(key),
    ...(isEndpointKey(key) && { endpoint: true }),
    identity,
    source,
    ...(labels !== undefined && { labels }),
    ...(hostIP !== undefined && { hostIP }),
    encryptKey,
    ...(endpointFlags !== 0 && { endpointFlags }),
    ...(pod !== undefined && { pod: { namespace: pod.namespace, name: pod.name } }),
    ...(cache.entries.isShadowed(key) && { shadowed: true }),
  };
}

function labelsOf({ allocator }: LoopParts, identity: number): readonly string[] | undefined {
  const labels = allocator.lookupById(identity as NumericIdentity)?.labels;
  return labels && canonicalLabels(labels);
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
