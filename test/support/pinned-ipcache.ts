/** Pinned ipcache maps made of words, for tests of commands on the real kernel. */
import type { BpfMap } from '../../src/lib/bpf/map.ts';
import { pinMap } from '../../src/lib/bpf/pin.ts';
import { numericIdentity } from '../../src/lib/identity/numeric-identity.ts';
import { encodeKey } from '../../src/lib/ipcache/key.ts';
import { type LayoutName, layoutNamed } from '../../src/lib/ipcache/layout.ts';
import { encodeValue, newRemoteEndpointInfo } from '../../src/lib/ipcache/remote-endpoint-info.ts';
import type { Kernel } from '../../src/lib/native/kernel.ts';
import { parseAddress } from '../../src/lib/net/address.ts';
import { parsePrefix } from '../../src/lib/net/prefix.ts';
import { realTrie } from './real-kernel.ts';

export interface WordEntry {
  readonly prefix: string;
  readonly identity: number;
  readonly tunnel?: string;
  readonly encryptKey?: number;
  readonly flags?: number;
}

/** Key and value bytes of an entry. */
export function entryBytes(layoutName: LayoutName, entry: WordEntry): { key: Uint8Array; value: Uint8Array } {
  const layout = layoutNamed(layoutName);
  const tunnel = entry.tunnel === undefined ? undefined : parseAddress(entry.tunnel);
  const info = newRemoteEndpointInfo(layout, {
    identity: numericIdentity(entry.identity),
    encryptKey: entry.encryptKey ?? 0,
    flags: entry.flags ?? 0,
    ...(tunnel && { tunnel }),
  });
  return { key: encodeKey(layout, parsePrefix(entry.prefix)), value: encodeValue(layout, info) };
}

/** A pinned map with the entries; disposed of by the caller, the pin goes with its directory. */
export function pinnedIpcache(
  kernel: Kernel,
  pin: string,
  entries: readonly WordEntry[],
  layoutName: LayoutName = 'v2',
): BpfMap {
  const map = realTrie(kernel, { valueBytes: layoutNamed(layoutName).value.bytes, maxEntries: 10_000 });
  for (const entry of entries) {
    const { key, value } = entryBytes(layoutName, entry);
    map.update(key, value);
  }
  pinMap(map, pin);
  return map;
}
