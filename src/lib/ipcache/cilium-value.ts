/**
 * The value as Cilium's agent prints it (RemoteEndpointInfo.String in pkg/maps/ipcache, 1.21-dev): the tunnel always
 * stands there, `ipv6tunnel` alone picks its family, and flag bits without a name are not shown.
 */
import { FLAG } from './layout.ts';
import { type RemoteEndpointInfo, tunnelText } from './remote-endpoint-info.ts';

/** All four named flags; Cilium's 12-byte code knew the first three. */
export const CILIUM_FLAGS = 0x0f;

/** Comma-separated names, `<none>` when no named bit is set. @param knownFlags the bits that have a name. */
export function ciliumFlagsString(flags: number, knownFlags: number = CILIUM_FLAGS): string {
  const names = Object.entries(FLAG).filter(([, bit]) => (flags & knownFlags & bit) !== 0);
  return names.length === 0 ? '<none>' : names.map(([name]) => name).join(',');
}

/** `identity=N encryptkey=N tunnelendpoint=ADDR flags=…`. */
export function ciliumValueString(info: RemoteEndpointInfo, knownFlags?: number): string {
  const flags = ciliumFlagsString(info.flags, knownFlags);
  return `identity=${info.identity} encryptkey=${info.encryptKey} tunnelendpoint=${tunnelText(info)} flags=${flags}`;
}
