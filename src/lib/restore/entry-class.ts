/**
 * What a restore makes of an entry of the outgoing map, from its bytes alone. Nearly all entries are announced again by
 * somebody (global numbers, tunnels, other clusters) and are told apart here without an object each.
 */
import { identityOf } from '../datapath/stored-identity.ts';
import { SCOPE_LOCAL, SCOPE_REMOTE_NODE, scopeBits } from '../identity/numeric-identity.ts';
import { IDENTITY_INGRESS } from '../identity/reserved.ts';
import { decodeKey, keyClusterId } from '../ipcache/key.ts';
import type { Layout } from '../ipcache/layout.ts';
import { soundPrefixLength } from '../ipcache/sound-key.ts';

/** Why an entry is not restored, which is no failure. */
export const SKIP_REASONS = [
  'global-scope',
  'unknown-scope',
  'remote-node-scope',
  'tunnel-endpoint',
  'cluster-id',
  'no-prefix',
  'v4-mapped',
  'skip-ingress',
] as const;

export type SkipReason = (typeof SKIP_REASONS)[number];

export type EntryClass = 'local' | 'ingress' | SkipReason;

/** Whether any tunnel byte is set, whatever the flags say. */
export function hasTunnelAt({ value: { tunnel } }: Layout, values: Uint8Array, value: number): boolean {
  if (tunnel === undefined) return false;
  const from = value + tunnel.offset;
  for (let i = from; i < from + tunnel.bytes; i++) if (values[i] !== 0) return true;
  return false;
}

/** Whether nothing but the identity is set: no tunnel, key or flag. */
export function isNumberAlone({ value: { bytes, identity } }: Layout, values: Uint8Array, value: number): boolean {
  for (let i = 0; i < bytes; i++) {
    if (values[value + i] !== 0 && (i < identity.offset || i >= identity.offset + identity.bytes)) return false;
  }
  return true;
}

/** Classifies the entry at the offsets. @param skipIngress as `--skip-ingress` */
export function classifyEntry(
  layout: Layout,
  bytes: { readonly keys: Uint8Array; readonly key: number; readonly values: Uint8Array; readonly value: number },
  skipIngress: boolean,
): EntryClass {
  const { keys, key, values, value } = bytes;
  const identity = identityOf(layout, values, value);
  const scope = scopeBits(identity);
  const isIngress = identity === IDENTITY_INGRESS;
  if (scope === 0 && !isIngress) return 'global-scope';
  if (scope === SCOPE_REMOTE_NODE) return 'remote-node-scope';
  if (scope !== SCOPE_LOCAL && !isIngress) return 'unknown-scope';
  if (keyClusterId(layout, keys, key) !== 0) return 'cluster-id';
  if (hasTunnelAt(layout, values, value)) return 'tunnel-endpoint';
  if (soundPrefixLength(layout.key, keys, key) < 0) {
    const { prefix, warnings } = decodeKey(layout, keys, key);
    if (prefix === undefined) return 'no-prefix';
    if (warnings.includes('v4-mapped')) return 'v4-mapped';
  }
  if (!isIngress) return 'local';
  return skipIngress ? 'skip-ingress' : 'ingress';
}
