/**
 * Puts what the map and the last checkpoint know into a new cache: numbers keep their meaning, and every prefix keeps its
 * number until a source claims it or the grace period ends. The map is the authority for numbers.
 */
import type { Ipcache } from '../cache/ipcache.ts';
import type { CachingAllocator, IdentityRecord } from '../identity/caching-allocator.ts';
import { cidrLabels } from '../identity/cidr-labels.ts';
import { Labels } from '../identity/labels.ts';
import { type NumericIdentity, numericIdentity } from '../identity/numeric-identity.ts';
import type { IpcacheMap } from '../ipcache/ipcache-map.ts';
import type { Layout } from '../ipcache/layout.ts';
import { formatPrefix, type Prefix, parsePrefix } from '../net/prefix.ts';
import { KnownLabels } from '../restore/known-labels.ts';
import { outgoingMap } from '../restore/outgoing.ts';
import { planRestore } from '../restore/plan.ts';
import { isPlaced, type PlannedEntry } from '../restore/planned-entry.ts';
import { rememberedLabels } from '../restore/remembered.ts';
import { INGRESS_LABEL, INGRESS_RESOURCE, RESTORED_RESOURCE, RESTORED_SOURCE } from '../restore/resources.ts';
import { SourceCollector, type SourceReading } from '../restore/source-reading.ts';
import type { Placeholder, StateCheckpoint } from '../state/checkpoint.ts';

export interface RestoreCacheOptions {
  readonly cache: Ipcache;
  readonly allocator: CachingAllocator;
  /** The map that is there; undefined when there is none, as after a reboot. */
  readonly ipcache: IpcacheMap | undefined;
  readonly layout: Layout;
  readonly previous: StateCheckpoint | undefined;
  /** RFC 3339. */
  readonly time: string;
  readonly signal: AbortSignal;
}

export interface RestoredCache {
  readonly placeholders: readonly Placeholder[];
  /** A source is about to say something about the prefix: a number that was kept alone gets the labels of its prefix. */
  readonly claim: (prefix: Prefix) => void;
  readonly ingress: number;
  /** Prefixes whose entry could not be taken over, each with the reason. */
  readonly conflicts: readonly PlannedEntry[];
  /** Numbers that nothing else may get until the release. */
  readonly withheld: readonly NumericIdentity[];
  /** Identities whose labels are known. */
  readonly identities: number;
  /** Entries of the map that are not restored by rule, by the rule. */
  readonly skipped: Readonly<Record<string, number>>;
  readonly complete: boolean;
}

/** The direct owner of prefixes whose number is known and whose labels are not. */
export const RESTORED_OWNER = '\0restored';

/** @throws {ToolError} where the map cannot be read */
export async function restoreCache(options: RestoreCacheOptions): Promise<RestoredCache> {
  const { cache, allocator, ipcache, previous, time } = options;
  const reading = ipcache === undefined ? rememberedEntries(options) : await readMap(ipcache, options.signal);
  const known = new KnownLabels(undefined, allocator.options);
  const remembered = rememberedLabels(previous);
  const target = ipcache === undefined ? 'new' : 'same';
  const plan = planRestore({ source: reading, known, remembered, target });
  const guessed = new Map<string, number>();
  for (const { kind, prefix, identity } of plan.entries) if (kind === 'guessed') guessed.set(prefix, identity);
  const records = recordsOf(plan.entries);
  const withheld = [...plan.withheld].map(numericIdentity);
  allocator.restoreLocalIdentities(records);
  allocator.withhold(withheld);
  const since = new Map(previous?.placeholders.map((placeholder) => [placeholder.prefix, placeholder]));
  const placeholders: Placeholder[] = [];
  let ingress = 0;
  for (const entry of plan.entries) {
    if (!isPlaced(entry)) continue;
    const prefix = parsePrefix(entry.prefix);
    if (entry.kind === 'ingress') {
      restoreIngress(cache, prefix);
      ingress++;
      continue;
    }
    if (entry.kind === 'guessed') restoreNumber(cache, entry);
    else restoreOne(cache, prefix, entry);
    const before = since.get(entry.prefix);
    placeholders.push({
      prefix: entry.prefix,
      identity: entry.identity,
      ...(entry.kind !== 'known' && { requested: true as const }),
      time: before?.identity === entry.identity ? before.time : time,
    });
  }
  cache.injectNow();
  return {
    placeholders,
    claim: (prefix) => claimGuessed(options, guessed, prefix),
    ingress,
    conflicts: plan.entries.filter((entry) => !isPlaced(entry)),
    withheld,
    identities: records.length,
    skipped: Object.fromEntries(reading.skipped),
    complete: reading.complete,
  };
}

async function readMap(ipcache: IpcacheMap, signal: AbortSignal): Promise<SourceReading> {
  const collector = new SourceCollector(ipcache.layout);
  const { complete, reason } = await outgoingMap(ipcache, signal).visit({
    onEntry: (keys, key, values, value) => void collector.add(keys, key, values, value),
  });
  return collector.end(complete, reason);
}

/** What the checkpoint has, as if it had been read from a map. */
function rememberedEntries({ layout, previous }: RestoreCacheOptions): SourceReading {
  const kept = [
    ...(previous?.identities ?? []).flatMap(({ identity, prefixes }) =>
      prefixes.map((prefix) => ({ prefix, identity, class: 'local' as const })),
    ),
    ...(previous?.ingress ?? []).map((prefix) => ({ prefix, identity: 8, class: 'ingress' as const })),
  ];
  return { layout, entries: kept.length, kept, skipped: new Map(), complete: true };
}

function recordsOf(entries: readonly PlannedEntry[]): IdentityRecord[] {
  const records = new Map<number, IdentityRecord>();
  for (const { identity, labels, kind } of entries) {
    if (labels !== undefined && kind !== 'guessed' && !records.has(identity))
      records.set(identity, { id: numericIdentity(identity), labels: labels.compact() });
  }
  return [...records.values()];
}

/** A number alone, half a million of which cost little. */
function restoreNumber(cache: Ipcache, { prefix, identity }: Pick<PlannedEntry, 'prefix' | 'identity'>): void {
  cache.upsert(prefix, { identity, source: RESTORED_SOURCE }, { owner: RESTORED_OWNER });
}

/** Before the claim is resolved, so that its labels are found to have the number that the prefix has. */
function claimGuessed({ cache, allocator }: RestoreCacheOptions, guessed: Map<string, number>, prefix: Prefix): void {
  const key = formatPrefix(prefix);
  const requestedIdentity = guessed.get(key);
  if (requestedIdentity === undefined) return;
  guessed.delete(key);
  const info = { labels: cidrLabels(prefix, allocator.options), requestedIdentity };
  cache.upsertMetadata([{ prefix, source: RESTORED_SOURCE, resource: RESTORED_RESOURCE, info }]);
}

/** A number that several prefixes share and nobody knows the labels of cannot be asked for: labels would divide it. */
function restoreOne(cache: Ipcache, prefix: Prefix, { prefix: key, identity, labels }: PlannedEntry): void {
  if (labels === undefined) {
    restoreNumber(cache, { prefix: key, identity });
    return;
  }
  const info = { labels: labels.compact(), requestedIdentity: identity };
  cache.upsertMetadata([{ prefix, source: RESTORED_SOURCE, resource: RESTORED_RESOURCE, info }]);
}

function restoreIngress(cache: Ipcache, prefix: Prefix): void {
  const labels = Labels.parse([INGRESS_LABEL]);
  cache.overrideIdentity({ prefix, source: RESTORED_SOURCE, resource: INGRESS_RESOURCE, labels });
}
