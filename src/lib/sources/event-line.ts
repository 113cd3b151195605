/** One line of NDJSON as an event: our own events, Cilium's IP identity pairs and its monitor messages. */

import { prefixOf } from '../cache/cache-key.ts';
import { INFO_KINDS, type InfoKind, type MetadataInfo } from '../cache/resource-info.ts';
import { EventFault } from './event-fault.ts';
import {
  addressField,
  endpointFlagsField,
  type Fields,
  keyField,
  labelsField,
  numberField,
  onlyFields,
  optionalNumber,
  podField,
  resourceField,
  sourceField,
  textList,
} from './event-fields.ts';
import { checkCluster } from './identity-cluster.ts';
import { isMonitorMessage, readMonitorMessage } from './monitor-message.ts';
import { isPair, readPairEvent } from './pair-event.ts';
import type { SourceEvent } from './source.ts';

export type LineEvent = SourceEvent | { readonly op: 'synced' };

const FIELDS = {
  upsert: new Set(['op', 'prefix', 'identity', 'hostIP', 'encryptKey', 'endpointFlags', 'source', 'pod']),
  delete: new Set(['op', 'prefix', 'expectIdentity', 'source', 'pod']),
  upsertMetadata: new Set([
    'op',
    'prefix',
    'resource',
    'source',
    'labels',
    'tunnelPeer',
    'encryptKey',
    'endpointFlags',
    'requestedIdentity',
  ]),
  removeMetadata: new Set(['op', 'prefix', 'resource', 'what']),
  overrideIdentity: new Set(['op', 'prefix', 'resource', 'source', 'labels']),
  synced: new Set(['op']),
} as const;

/**
 * @param source the Cilium source of events that name none
 * @returns undefined for an empty line, and for monitor messages about something else
 * @throws {EventFault}
 */
export function parseEventLine(line: string, source: string): LineEvent | undefined {
  if (line === '' || line.trim() === '') return undefined;
  let fields: Fields;
  try {
    fields = JSON.parse(line);
  } catch {
    throw new EventFault('', 'is not JSON');
  }
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
    throw new EventFault('', 'is not a JSON object');
  }
  switch (fields.op) {
    case 'upsert':
      return readUpsert(fields, source);
    case 'delete':
      return readDelete(fields, source);
    case 'upsertMetadata':
    case 'overrideIdentity':
      return readMetadata(fields, source, fields.op === 'overrideIdentity');
    case 'removeMetadata':
      return readRemoval(fields);
    case 'synced':
      onlyFields(fields, FIELDS.synced);
      return { op: 'synced' };
    case undefined:
      if (isPair(fields)) return readPairEvent(line, fields, source);
      if (isMonitorMessage(fields)) return readMonitorMessage(fields, source);
      throw new EventFault('', 'is neither an event, an IP identity pair nor a monitor message');
    default:
      throw new EventFault('op', `is ${JSON.stringify(fields.op)}, which is no operation`);
  }
}

function readUpsert(fields: Fields, source: string): LineEvent {
  onlyFields(fields, FIELDS.upsert);
  const key = keyField(fields.prefix, 'prefix');
  const identity = numberField(fields.identity, 'identity');
  checkCluster(key, identity);
  return {
    op: 'upsert',
    record: {
      key,
      identity,
      source: sourceField(fields.source, source),
      hostIP: addressField(fields.hostIP, 'hostIP'),
      encryptKey: optionalNumber(fields.encryptKey, 'encryptKey', 0xff),
      endpointFlags: endpointFlagsField(fields.endpointFlags),
      pod: podField(fields.pod),
    },
  };
}

function readDelete(fields: Fields, source: string): LineEvent {
  onlyFields(fields, FIELDS.delete);
  return {
    op: 'delete',
    key: keyField(fields.prefix, 'prefix'),
    source: sourceField(fields.source, source),
    expectIdentity: optionalNumber(fields.expectIdentity, 'expectIdentity'),
    pod: podField(fields.pod),
  };
}

function readMetadata(fields: Fields, source: string, isOverride: boolean): LineEvent {
  onlyFields(fields, isOverride ? FIELDS.overrideIdentity : FIELDS.upsertMetadata);
  const info: MetadataInfo = isOverride
    ? { labels: labelsField(fields.labels), identityOverride: true }
    : {
        ...(fields.labels === undefined ? {} : { labels: labelsField(fields.labels) }),
        ...(fields.tunnelPeer === undefined ? {} : { tunnelPeer: addressField(fields.tunnelPeer, 'tunnelPeer') ?? '' }),
        ...(fields.encryptKey === undefined ? {} : { encryptKey: numberField(fields.encryptKey, 'encryptKey', 0xff) }),
        ...(fields.endpointFlags === undefined ? {} : { endpointFlags: endpointFlagsField(fields.endpointFlags) ?? 0 }),
        ...(fields.requestedIdentity === undefined
          ? {}
          : { requestedIdentity: numberField(fields.requestedIdentity, 'requestedIdentity') }),
      };
  return {
    op: 'upsertMetadata',
    update: {
      prefix: prefixOf(keyField(fields.prefix, 'prefix')),
      source: sourceField(fields.source, source),
      resource: resourceField(fields.resource),
      info,
    },
  };
}

function readRemoval(fields: Fields): LineEvent {
  onlyFields(fields, FIELDS.removeMetadata);
  const what = textList(fields.what, 'what').map((kind) => {
    if (!isInfoKind(kind))
      throw new EventFault('what', `has ${JSON.stringify(kind)}, which is none of ${INFO_KINDS.join(', ')}`);
    return kind;
  });
  if (what.length === 0) throw new EventFault('what', 'is empty, so that nothing would be removed');
  const prefix = prefixOf(keyField(fields.prefix, 'prefix'));
  return { op: 'removeMetadata', removal: { prefix, resource: resourceField(fields.resource), what } };
}

function isInfoKind(text: string): text is InfoKind {
  return INFO_KINDS.some((kind) => kind === text);
}
