/** Cilium's IP identity pair as an event: it can only say that something is there. */
import { MalformedError } from '../errors.ts';
import { EventFault } from './event-fault.ts';
import { type Fields, keyField } from './event-fields.ts';
import { pairKeyName, parsePair } from './kvstore/ip-identity-pair.ts';
import { directValueOf } from './kvstore/ip-watcher.ts';
import type { SourceEvent } from './source.ts';

export function isPair(fields: Fields): boolean {
  return 'IP' in fields || 'ID' in fields;
}

/** @throws {EventFault} */
export function readPairEvent(line: string, fields: Fields, source: string): SourceEvent {
  const pair = readPair(line);
  if (pair.ip === undefined) throw new EventFault('IP', 'is missing');
  const name = pairKeyName(pair);
  // Upstream takes a mask with holes for length 0, which would be a catch-all entry.
  if (pair.mask?.some((byte) => byte !== 0) && name.endsWith('/0')) throw new EventFault('Mask', 'has holes');
  const { identity, hostIP, encryptKey, pod } = directValueOf(pair, source);
  if (fields.ID === undefined) throw new EventFault('ID', 'is missing');
  return { op: 'upsert', record: { key: keyField(name, 'IP'), identity, source, hostIP, encryptKey, pod } };
}

function readPair(line: string) {
  try {
    return parsePair(line);
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    throw new EventFault('', error.message.replace(/^.*?: /, 'is an IP identity pair, but '));
  }
}
