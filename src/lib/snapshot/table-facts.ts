/** What must be known of all entries before the first one is written. */
import { hasLocalScope, hasRemoteNodeScope } from '../identity/numeric-identity.ts';
import type { EntryTable } from '../ipcache/entry-table.ts';
import { FAMILY_IPV4, FAMILY_IPV6, KEY_BYTES, type Layout } from '../ipcache/layout.ts';
import type { Family } from '../net/address.ts';

export interface TableFacts {
  /** Entries with an identity of local scope. */
  readonly localEntries: number;
  /** Local and remote-node numbers in use. */
  readonly allocated: ReadonlySet<number>;
  readonly families: readonly Family[];
}

export function tableFacts({ keys, values, count, valueBytes }: EntryTable, layout: Layout): TableFacts {
  const allocated = new Set<number>();
  const { offset, bytes } = layout.value.identity;
  let localEntries = 0;
  let ipv4 = false;
  let ipv6 = false;
  for (let i = 0; i < count; i++) {
    const family = keys[i * KEY_BYTES + 7];
    if (family === FAMILY_IPV4) ipv4 = true;
    else if (family === FAMILY_IPV6) ipv6 = true;
    // Only the scope byte, for most entries have none; 16-bit identities have no scopes.
    const at = i * valueBytes + offset;
    if (bytes !== 4 || values[at + 3] === 0) continue;
    const low = (values[at] ?? 0) | ((values[at + 1] ?? 0) << 8) | ((values[at + 2] ?? 0) << 16);
    const identity = low + (values[at + 3] ?? 0) * 0x1000000;
    if (hasLocalScope(identity)) localEntries++;
    if (hasLocalScope(identity) || hasRemoteNodeScope(identity)) allocated.add(identity);
  }
  return {
    localEntries,
    allocated,
    families: [...(ipv4 ? ['ipv4' as const] : []), ...(ipv6 ? ['ipv6' as const] : [])],
  };
}
