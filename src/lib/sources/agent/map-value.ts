/**
 * Keys and values of the ipcache map as the agent's API has them: the text of Key and RemoteEndpointInfo in
 * pkg/maps/ipcache of Cilium. Versions before 1.13 end the tunnel endpoint's word without flags behind it.
 */
import { parseFlag } from '../../ipcache/flags.ts';
import { formatAddress, parseAddress } from '../../net/address.ts';
import { formatPrefix } from '../../net/prefix.ts';
import { parseStoredPrefix } from '../../snapshot/stored-prefix.ts';

export interface AgentMapValue {
  readonly identity: number;
  readonly encryptKey: number;
  /** Absent where the agent prints a zero address. */
  readonly tunnelEndpoint?: string;
  /** The flags byte; 0 in versions that do not print it. */
  readonly flags: number;
}

/** @returns the canonical prefix; undefined for text that is none */
export function parseMapKey(text: unknown): string | undefined {
  const prefix = typeof text === 'string' ? parseStoredPrefix(text) : undefined;
  return prefix && formatPrefix(prefix);
}

/** @returns undefined for `<nil>`, which a delete has, and for anything else that is no value */
export function parseMapValue(text: unknown): AgentMapValue | undefined {
  const match = typeof text === 'string' ? VALUE.exec(text) : null;
  if (match === null) return undefined;
  const identity = Number(match[1]);
  const encryptKey = Number(match[2]);
  const tunnel = parseAddress(match[3] ?? '');
  const flags = flagBits(match[4]);
  if (identity > 0xffffffff || encryptKey > 0xff || tunnel === undefined || flags === undefined) return undefined;
  return {
    identity,
    encryptKey,
    ...(tunnel.some((byte) => byte !== 0) && { tunnelEndpoint: formatAddress(tunnel) }),
    flags,
  };
}

const VALUE = /^identity=(\d{1,10}) encryptkey=(\d{1,3}) tunnelendpoint=([\da-fA-F.:]+)(?:,? flags=(\S+))?(?: .*)?$/;

function flagBits(text: string | undefined): number | undefined {
  if (text === undefined || text === '<none>') return 0;
  try {
    return text.split(',').reduce((bits, name) => bits | parseFlag(name), 0);
  } catch {
    return undefined;
  }
}
