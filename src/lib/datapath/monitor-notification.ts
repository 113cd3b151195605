/**
 * What a monitor is told about a change, in the bytes that Cilium's agent sends and `cilium-dbg monitor -j` prints
 * (pkg/monitor/api of 1.21): Go's field order and Go's escapes.
 */
import type { IpcacheEvent } from '../cache/listener.ts';
import { goString } from '../identity/go-json.ts';
import { formatAddress } from '../net/address.ts';
import { parseHostIP } from './node-addresses.ts';

export interface IpcacheNotification {
  /** Without the cluster ID. */
  readonly cidr: string;
  /** Of a delete: what was deleted. */
  readonly id: number;
  /** Printed even when 0; absent for a new prefix and a delete. */
  readonly oldId?: number | undefined;
  readonly hostIP?: string | undefined;
  readonly oldHostIP?: string | undefined;
  readonly encryptKey: number;
  readonly namespace?: string | undefined;
  readonly podName?: string | undefined;
}

/** Numbers of agent notifications. */
export const IPCACHE_UPSERTED = 9;
export const IPCACHE_DELETED = 10;

/** What Cilium would say of the event. */
export function notificationOf(event: IpcacheEvent): IpcacheNotification {
  const { prefix, entry } = event;
  const at = prefix.indexOf('@');
  const named = {
    cidr: at < 0 ? prefix : prefix.slice(0, at),
    id: entry.identity,
    encryptKey: entry.encryptKey,
    namespace: entry.pod?.namespace,
    podName: entry.pod?.name,
  };
  if (event.kind === 'delete') return { ...named, oldHostIP: entry.hostIP };
  return { ...named, oldId: event.old?.identity, hostIP: entry.hostIP, oldHostIP: event.old?.hostIP };
}

/** The text of the agent's notification: one line of JSON without a newline. */
export function notificationText(notification: IpcacheNotification): string {
  const { cidr, id, oldId, encryptKey, namespace, podName } = notification;
  let text = `{"cidr":${goString(cidr)},"id":${id}`;
  if (oldId !== undefined) text += `,"old-id":${oldId}`;
  text += hostField('host-ip', notification.hostIP) + hostField('old-host-ip', notification.oldHostIP);
  text += `,"encrypt-key":${encryptKey}`;
  if (namespace) text += `,"namespace":${goString(namespace)}`;
  if (podName) text += `,"pod-name":${goString(podName)}`;
  return `${text}}`;
}

/**
 * The line of a monitor, with its newline.
 * @param applied whether the map has the change; when not, the line ends in `"applied":false`, which Cilium's never does
 */
export function monitorLine(event: IpcacheEvent, applied: boolean): string {
  const subtype = event.kind === 'delete' ? 'IPCache entry deleted' : 'IPCache entry upserted';
  const message = notificationText(notificationOf(event));
  return `{"type":"agent","subtype":"${subtype}","message":${message}${applied ? '' : ',"applied":false'}}\n`;
}

/** v4-mapped hosts are printed as IPv4; no host and an empty one are left out. */
function hostField(name: string, hostIP: string | undefined): string {
  if (hostIP === undefined || hostIP === '') return '';
  const bytes = parseHostIP(hostIP);
  return `,"${name}":${goString(bytes === undefined ? hostIP : formatAddress(bytes))}`;
}
