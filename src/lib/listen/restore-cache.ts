/**
 * Puts what the map and the last checkpoint know into a new cache: numbers keep their meaning, and every prefix keeps its
 * number until a source claims it or the grace period ends. The map is the authority for numbers.
 */
import type { Ipcache } from '../cache/ipcache.ts';
import type { CacheEntry } from '../cache/listener.ts';
import { INFO_KINDS } from '../cache/resource-info.ts';
import type { CachingAllocator, IdentityRecord } from '../identity/caching-allocator.ts';
import { cidrLabels } from '../identity/cidr-labels.ts';
import { Labels } from '../identity/labels.ts';
import { type NumericIdentity, numericIdentity } from '../identity/numeric-identity.ts';
import type { IpcacheMap } from '../ipcache/ipcache-map.ts';
import type { Layout } from '../ipcache/layout.ts';
import { soundPrefixLength } from '../ipcache/sound-key.ts';
import { storedText } from '../ipcache/stored-text.ts';
import { formatPrefix, type Prefix, parsePrefix } from '../net/prefix.ts';
import { isNumberAlone } from '../restore/entry-class.ts';
import { KnownLabels } from '../restore/known-labels.ts';
import { outgoingMap } from '../restore/outgoing.ts';
import { RestorePlanner } from '../restore/plan.ts';
import { isPlaced, type PlannedEntry } from '../restore/planned-entry.ts';
import { rememberedLabels } from '../restore/remembered.ts';
import { INGRESS_LABEL, INGRESS_RESOURCE, RESTORED_RESOURCE, RESTORED_SOURCE } from '../restore/resources.ts';
import { SourceCollector, type SourceReading } from '../restore/source-reading.ts';
import type { StateCheckpoint } from '../state/checkpoint.ts';
import { RestoredPrefixes } from './restored-prefixes.ts';

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
  readonly placeholders: RestoredPrefixes;
  /** A source is about to say something about the prefix: a number that was kept alone gets the labels of its prefix. */
  readonly claim: (prefix: Prefix) => void;
  /** Whether the map that was read has the entry as it is to be, so that it need not be written. */
  readonly isInMap: (prefix: string, entry: CacheEntry) => boolean;
  readonly ingress: number;
  /** Prefixes whose entry could not be taken over, each with the reason. */
  readonly conflicts: readonly PlannedEntry[];
  /** Numbers that nothing else may get until the release. */
  readonly withheld: ReadonlySet<NumericIdentity>;
  /** Identities whose labels are known. */
  readonly identities: number;
  /** Entries of the map that are not restored by rule, by the rule. */
  readonly skipped: Readonly<Record<string, number>>;
  readonly complete: boolean;
}

/** The direct owner of prefixes whose number is known and whose labels are not. */
export const RESTORED_OWNER = '\0restored';
const RESTORED_BY = { owner: RESTORED_OWNER };

/** @throws {ToolError} where the map cannot be read */
export async function restoreCache(options: RestoreCacheOptions): Promise<RestoredCache> {
  const { cache, allocator, ipcache, previous, time } = options;
  const { reading, more } = ipcache === undefined ? rememberedEntries(options) : await readMap(ipcache, options.signal);
  const planner = new RestorePlanner({
    source: reading,
    known: new KnownLabels(undefined, allocator.options),
    remembered: rememberedLabels(previous),
    target: ipcache === undefined ? 'new' : 'same',
    lazyGuesses: true,
  });
  const placeholders = new RestoredPrefixes(time, reading.kept.length);
  const records = new Map<number, IdentityRecord>();
  const conflicts: PlannedEntry[] = [];
  let ingress = 0;
  planner.forEach((entry) => {
    const { prefix, identity, kind, labels } = entry;
    if (labels !== undefined && !records.has(identity)) records.set(identity, recordOf(identity, labels));
    if (!isPlaced(entry)) conflicts.push(entry);
    else if (kind === 'ingress') {
      restoreIngress(cache, parsePrefix(prefix));
      ingress++;
    } else {
      restoreOne(cache, entry);
      placeholders.add({
        prefix,
        identity,
        isRequested: kind !== 'known',
        isGuessed: kind === 'guessed',
        isInMap: ipcache !== undefined && !more.has(prefix),
      });
    }
  });
  for (const placeholder of previous?.placeholders ?? []) placeholders.keepTime(placeholder);
  placeholders.complete();
  const withheld = planner.withheld();
  // Nothing in the map has them, and policy may still know them by what they meant.
  for (const { identity } of previous?.identities ?? []) withheld.add(numericIdentity(identity));
  allocator.restoreLocalIdentities([...records.values()]);
  allocator.withhold(withheld);
  cache.injectNow();
  while (holdChanged(cache, placeholders)) cache.injectNow();
  return {
    placeholders,
    claim: (prefix) => claimGuessed(options, placeholders, prefix),
    isInMap: (prefix, entry) => isPlain(entry) && placeholders.isInMap(prefix, entry.identity),
    ingress,
    conflicts,
    withheld,
    identities: records.size,
    skipped: Object.fromEntries(reading.skipped),
    complete: reading.complete,
  };
}

/** Whether nothing but the number of an entry comes into the map. */
function isPlain({ hostIP, encryptKey, endpointFlags }: CacheEntry): boolean {
  return hostIP === undefined && encryptKey === 0 && endpointFlags === 0;
}

interface ReadEntries {
  readonly reading: SourceReading;
  /** Prefixes with host bits in the key, or with an encrypt key or flags in the value, which are not restored. */
  readonly more: ReadonlySet<string>;
}

async function readMap(ipcache: IpcacheMap, signal: AbortSignal): Promise<ReadEntries> {
  const { layout } = ipcache;
  const collector = new SourceCollector(layout);
  const more = new Set<string>();
  const { complete, reason } = await outgoingMap(ipcache, signal).visit({
    onEntry(keys, key, values, value) {
      if (!collector.add(keys, key, values, value)) return;
      if (isNumberAlone(layout, values, value) && soundPrefixLength(layout.key, keys, key) >= 0) return;
      more.add(storedText(layout, keys, key));
    },
  });
  return { reading: collector.end(complete, reason), more };
}

/** What the checkpoint has, as if it had been read from a map. */
function rememberedEntries({ layout, previous }: RestoreCacheOptions): ReadEntries {
  const kept = [
    ...(previous?.identities ?? []).flatMap(({ identity, prefixes }) =>
      prefixes.map((prefix) => ({ prefix, identity, class: 'local' as const })),
    ),
    ...(previous?.ingress ?? []).map((prefix) => ({ prefix, identity: 8, class: 'ingress' as const })),
  ];
  return { reading: { layout, entries: kept.length, kept, skipped: new Map(), complete: true }, more: new Set() };
}

function recordOf(identity: number, labels: Labels): IdentityRecord {
  return { id: numericIdentity(identity), labels: labels.compact() };
}

/**
 * A number alone, half a million of which cost little, or with its labels. A number that several prefixes share and nobody
 * knows the labels of cannot be asked for: labels would divide it.
 */
function restoreOne(cache: Ipcache, { prefix, identity, labels }: PlannedEntry): void {
  if (labels === undefined) {
    cache.upsert(prefix, { identity, source: RESTORED_SOURCE }, RESTORED_BY);
    return;
  }
  const info = { labels: labels.compact(), requestedIdentity: identity };
  cache.upsertMetadata([{ prefix: parsePrefix(prefix), source: RESTORED_SOURCE, resource: RESTORED_RESOURCE, info }]);
}

/**
 * Labels may lead to another number: they are joined by those of wider prefixes, or another number has them too. Such a
 * prefix keeps its number alone, until somebody says what it is.
 * @returns whether there was one, so that what lies inside of it is resolved anew
 */
function holdChanged(cache: Ipcache, placeholders: RestoredPrefixes): boolean {
  let isChanged = false;
  for (const { prefix, identity, requested } of placeholders) {
    if (requested === true || cache.get(prefix)?.identity === identity) continue;
    isChanged = true;
    cache.removeMetadata([{ prefix: parsePrefix(prefix), resource: RESTORED_RESOURCE, what: INFO_KINDS }]);
    cache.upsert(prefix, { identity, source: RESTORED_SOURCE }, RESTORED_BY);
  }
  return isChanged;
}

/** Before the claim is resolved, so that its labels are found to have the number that the prefix has. */
function claimGuessed({ cache, allocator }: RestoreCacheOptions, placeholders: RestoredPrefixes, prefix: Prefix): void {
  const requestedIdentity = placeholders.takeGuess(formatPrefix(prefix));
  if (requestedIdentity === undefined) return;
  const info = { labels: cidrLabels(prefix, allocator.options), requestedIdentity };
  cache.upsertMetadata([{ prefix, source: RESTORED_SOURCE, resource: RESTORED_RESOURCE, info }]);
}

function restoreIngress(cache: Ipcache, prefix: Prefix): void {
  const labels = Labels.parse([INGRESS_LABEL]);
  cache.overrideIdentity({ prefix, source: RESTORED_SOURCE, resource: INGRESS_RESOURCE, labels });
}
