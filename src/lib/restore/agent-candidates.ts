/**
 * Which entries of an outgoing map Cilium's agent restores (pkg/ipcache/restore, 1.18 to 1.21-dev): local numbers and
 * ingress, of the local cluster, without tunnel bytes. Its reader of 12-byte maps looks at the tunnel of ingress only.
 */
import { hasLocalScope } from '../identity/numeric-identity.ts';
import { IDENTITY_INGRESS } from '../identity/reserved.ts';
import { keyPrefix } from '../ipcache/cilium-key.ts';
import { keyClusterId } from '../ipcache/key.ts';
import type { Layout } from '../ipcache/layout.ts';
import { decodeValue, hasTunnelBytes } from '../ipcache/remote-endpoint-info.ts';
import type { NetipPrefix } from '../net/netip.ts';

export interface AgentCandidate {
  /** As stored, host bits included; bits -1 for a key that is no prefix, which the agent takes up all the same. */
  readonly prefix: NetipPrefix;
  readonly identity: number;
}

/** Reads the entry at the offsets. @returns undefined for what the agent passes over */
export function agentCandidate(
  layout: Layout,
  keys: Uint8Array,
  key: number,
  values: Uint8Array,
  value: number,
): AgentCandidate | undefined {
  const info = decodeValue(layout, values, value);
  const isIngress = info.identity === IDENTITY_INGRESS;
  if (!isIngress && !hasLocalScope(info.identity)) return undefined;
  const isOld = layout.value.bytes < 24;
  if (!isOld && keyClusterId(layout, keys, key) !== 0) return undefined;
  if ((!isOld || isIngress) && hasTunnelBytes(info)) return undefined;
  return { prefix: keyPrefix(keys, key), identity: info.identity };
}
