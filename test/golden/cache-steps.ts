/** The steps of topic 9, which topics 10, 12 and 13 use too. */

import type { IpcacheEvent } from '../../src/lib/cache/listener.ts';
import {
  keysOfIdentity,
  lookupAddress,
  lookupKey,
  metadataLabelsOf,
  prefixesOfHost,
} from '../../src/lib/cache/lookup.ts';
import type { MetadataRemoval, MetadataUpdate } from '../../src/lib/cache/metadata.ts';
import { INFO_KINDS, type InfoKind, type MetadataInfo } from '../../src/lib/cache/resource-info.ts';
import { Labels } from '../../src/lib/identity/labels.ts';
import { labelsModel } from '../../src/lib/identity/labels-format.ts';
import { numericIdentity } from '../../src/lib/identity/numeric-identity.ts';
import { formatAddress, parseAddress } from '../../src/lib/net/address.ts';
import {
  type CacheHarness,
  type GoldenOptions,
  type GoldenUpsert,
  k8sOf,
  metadataPrefix,
  sortedEvents,
} from './cache-harness.ts';

export interface GoldenInfo {
  readonly type: string;
  readonly labels?: readonly string[];
  readonly ip?: string;
  readonly key?: number;
  readonly id?: number;
  readonly skipTunnel?: boolean;
  readonly remoteCluster?: boolean;
  readonly value?: boolean;
}

export interface GoldenMetadataUpdate {
  readonly prefix: string;
  readonly source?: string;
  readonly resource?: string;
  readonly metadata?: readonly GoldenInfo[];
  readonly isCIDR?: boolean;
}

export interface GoldenStep extends GoldenUpsert {
  readonly op: string;
  readonly noInject?: boolean;
  readonly updates?: readonly GoldenMetadataUpdate[];
  readonly prefix?: string;
  readonly labels?: readonly string[];
  readonly resource?: string;
  readonly exclude?: readonly string[];
  readonly ids?: readonly number[];
  readonly namespace?: string;
  readonly podName?: string;
  readonly options?: GoldenOptions;
}

const INJECTING = new Set([
  'upsertMetadata',
  'removeMetadata',
  'overrideIdentity',
  'removeIdentityOverride',
  'removeLabelsExcluded',
]);

const QUERIES = new Set([
  'lookupByIP',
  'lookupByPrefix',
  'lookupSecIDByIP',
  'lookupByIdentity',
  'lookupByHost',
  'metadataSource',
  'metadataLabels',
  'k8sMetadata',
  'dumpToListener',
  'prefixLengths',
]);

/** Does one step and collects everything that the case lists for it. */
export function runStep(harness: CacheHarness, step: GoldenStep) {
  const result = QUERIES.has(step.op) ? query(harness, step) : change(harness, step);
  const injects = step.op === 'inject' || (INJECTING.has(step.op) && !step.noInject);
  const injection = injects ? harness.inject() : INJECTING.has(step.op) ? { queued: harness.cache.queued.sort() } : {};
  const seen = {
    result,
    ...injection,
    events: sortedEvents(harness.takeEvents()),
    selectorUpdates: harness.takeSelectorUpdates(),
  };
  return QUERIES.has(step.op) ? seen : { ...seen, state: harness.state() };
}

function change(harness: CacheHarness, step: GoldenStep): object {
  const { cache, allocator } = harness;
  const resource = step.resource ?? '';
  const ids = (step.ids ?? []).map(numericIdentity);
  switch (step.op) {
    case 'upsertMetadata':
      cache.upsertMetadata((step.updates ?? []).map(updateOf));
      return {};
    case 'removeMetadata':
      cache.removeMetadata((step.updates ?? []).map(removalOf));
      return {};
    case 'overrideIdentity':
      cache.overrideIdentity({
        prefix: metadataPrefix(step.prefix ?? ''),
        labels: Labels.parse(step.labels ?? []),
        source: step.source ?? '',
        resource,
      });
      return {};
    case 'removeIdentityOverride':
      cache.removeIdentityOverride(metadataPrefix(step.prefix ?? ''), resource);
      return {};
    case 'removeLabelsExcluded': {
      const exclude = new Set(step.exclude);
      cache.removeLabelsExcluded(Labels.parse(step.labels ?? []), (key) => exclude.has(key), resource);
      return { labelsAfter: step.labels };
    }
    case 'inject':
      return {};
    case 'upsert':
      return harness.upsert(step);
    case 'delete':
      return harness.delete(step.ip ?? '', step.source ?? '');
    case 'deleteOnMetadataMatch':
      return harness.delete(step.ip ?? '', step.source ?? '', {
        namespace: step.namespace ?? '',
        name: step.podName ?? '',
      });
    case 'allocateLocal':
      return harness.allocateLocal(step.labels ?? [], step.id ?? 0);
    case 'releaseLocal':
      return harness.releaseLocal(ids);
    case 'withhold':
      allocator.withhold(ids);
      return {};
    case 'unwithhold':
      allocator.unwithhold(ids);
      return {};
    case 'setOptions':
      harness.setOptions(step.options ?? {});
      return {};
    case 'cacheSynced':
      cache.setReady();
      return {};
    case 'getNamedPorts':
      cache.countNamedPorts();
      return {};
    default:
      throw new Error(`no step ${step.op}`);
  }
}

function query(harness: CacheHarness, step: GoldenStep): object {
  const { cache } = harness;
  const ip = step.ip ?? '';
  switch (step.op) {
    case 'lookupByIP':
      return exists(harness, cache.get(ip));
    case 'lookupByPrefix':
      return exists(harness, lookupKey(cache, ip)?.entry);
    case 'lookupSecIDByIP': {
      const address = parseAddress(ip);
      return exists(harness, address && lookupAddress(cache, address)?.entry);
    }
    case 'lookupByIdentity':
      return { ips: keysOfIdentity(cache, step.id ?? 0).sort() };
    case 'lookupByHost': {
      const host = parseAddress(ip);
      return { cidrs: host === undefined ? [] : prefixesOfHost(cache, formatAddress(host)).sort() };
    }
    case 'metadataSource':
      return { source: cache.metadata.get(metadataPrefix(step.prefix ?? ''))?.source ?? 'unspec' };
    case 'metadataLabels': {
      const address = parseAddress(ip);
      return { labels: address === undefined ? [] : labelsModel(metadataLabelsOf(cache, address)) };
    }
    case 'k8sMetadata':
      return { k8s: k8sOf(cache.get(ip)?.pod) };
    case 'dumpToListener': {
      const events: IpcacheEvent[] = [];
      cache.replay({ onIpcacheEvent: (event) => events.push(event) });
      return { events: sortedEvents(events.map((event) => harness.event(event))) };
    }
    default:
      return { v4: cache.lengths.list('ipv4'), v6: cache.lengths.list('ipv6') };
  }
}

function exists(harness: CacheHarness, entry: ReturnType<CacheHarness['cache']['get']>): object {
  return { exists: entry !== undefined, identity: harness.identity(entry) };
}

function updateOf(update: GoldenMetadataUpdate): MetadataUpdate {
  return {
    prefix: metadataPrefix(update.prefix),
    source: update.source ?? '',
    resource: update.resource ?? '',
    info: Object.assign({}, ...(update.metadata ?? []).map(infoOf)),
    isCidr: update.isCIDR ?? false,
  };
}

function removalOf(update: GoldenMetadataUpdate): MetadataRemoval {
  return {
    prefix: metadataPrefix(update.prefix),
    resource: update.resource ?? '',
    what: (update.metadata ?? []).map(({ type }) => type).filter(isInfoKind),
    isCidr: update.isCIDR ?? false,
  };
}

function isInfoKind(type: string): type is InfoKind {
  return INFO_KINDS.some((kind) => kind === type);
}

function infoOf(info: GoldenInfo): MetadataInfo {
  switch (info.type) {
    case 'labels':
      return { labels: Labels.parse(info.labels ?? []) };
    case 'tunnelPeer': {
      const address = parseAddress(info.ip ?? '');
      return { tunnelPeer: address === undefined ? '' : formatAddress(address) };
    }
    case 'encryptKey':
      return { encryptKey: info.key ?? 0 };
    case 'requestedIdentity':
      return { requestedIdentity: info.id ?? 0 };
    case 'identityOverride':
      return { identityOverride: info.value ?? false };
    case 'endpointFlags':
      if (info.skipTunnel === undefined && info.remoteCluster === undefined) return { endpointFlags: -1 };
      return { endpointFlags: (info.skipTunnel ? 1 : 0) | (info.remoteCluster ? 8 : 0) };
    default:
      return {};
  }
}
