/** Lines of `cilium-dbg monitor -j` as events: those about the ipcache (Cilium 1.21, pkg/monitor/api). */
import { EventFault } from './event-fault.ts';
import { addressField, type Fields, keyField, numberField } from './event-fields.ts';
import type { SourceEvent } from './source.ts';
import { pooledText } from './text-pool.ts';

const UPSERTED = 'IPCache entry upserted';
const DELETED = 'IPCache entry deleted';

export function isMonitorMessage(fields: Fields): boolean {
  return typeof fields.type === 'string';
}

/** @returns undefined for messages about something else. @throws {EventFault} */
export function readMonitorMessage(fields: Fields, source: string): SourceEvent | undefined {
  const { type, subtype, message } = fields;
  if (type !== 'agent' || (subtype !== UPSERTED && subtype !== DELETED)) return undefined;
  if (typeof message !== 'object' || message === null) throw new EventFault('message', 'is not an object');
  const { cidr, id, namespace = '', 'pod-name': name = '', ...rest } = message as Fields;
  const key = keyField(cidr, 'message.cidr');
  const identity = numberField(id, 'message.id');
  if (subtype === DELETED) return { op: 'delete', key, source, expectIdentity: identity };
  if (typeof namespace !== 'string' || typeof name !== 'string')
    throw new EventFault('message.pod-name', 'is not a text');
  return {
    op: 'upsert',
    record: {
      key,
      identity,
      source,
      hostIP: addressField(rest['host-ip'], 'message.host-ip'),
      encryptKey: numberField(rest['encrypt-key'] ?? 0, 'message.encrypt-key', 0xff),
      endpointFlags: undefined,
      pod: namespace === '' && name === '' ? undefined : { namespace: pooledText(namespace), name },
    },
  };
}
