/** A map's entries with other addresses. The bytes are changed, not text, so that redacted entries print like all others. */
import { EntryTable } from '../ipcache/entry-table.ts';
import { decodeKey } from '../ipcache/key.ts';
import { FAMILY_IPV4, FLAG, KEY_BYTES, type Layout } from '../ipcache/layout.ts';
import { compareLpmKeys } from '../net/lpm-order.ts';
import type { AddressRedactor } from './redact-address.ts';

const ADDRESS_AT = 8;

/** @returns a new table, in the order in which a walk would list it */
export function redactTable(table: EntryTable, layout: Layout, addresses: AddressRedactor): EntryTable {
  const keys = table.keys.slice(0, table.count * KEY_BYTES);
  const values = table.values.slice(0, table.count * table.valueBytes);
  const tunnels = new TunnelRedactor(layout, addresses);
  for (let i = 0; i < table.count; i++) {
    redactKey(keys, i * KEY_BYTES, layout, addresses);
    tunnels.redact(values, i * table.valueBytes);
  }
  const order = Uint32Array.from({ length: table.count }, (_, i) => i);
  order.sort((a, b) => compareLpmKeys(keys, a * KEY_BYTES, keys, b * KEY_BYTES));
  const sorted = new EntryTable(table.valueBytes, table.count);
  for (const i of order) sorted.add(keys, i * KEY_BYTES, values, i * table.valueBytes);
  return sorted;
}

function redactKey(keys: Uint8Array, at: number, layout: Layout, addresses: AddressRedactor): void {
  const { prefix, warnings } = decodeKey(layout, keys, at);
  const from = at + ADDRESS_AT;
  if (prefix === undefined) {
    // A dead or catch-all key: whatever stands where the address would is treated as one.
    const stored = keys.slice(from, from + 16);
    const isIPv4 = keys[at + 7] === FAMILY_IPV4 && stored.subarray(4).every((byte) => byte === 0);
    keys.set(addresses.redactHost(isIPv4 ? stored.subarray(0, 4) : stored), from);
    return;
  }
  const bytes = prefix.address.length;
  keys.fill(0, from, from + 16);
  keys.set(addresses.redact(prefix.address, prefix.length), from);
  // Host bits name nobody once they are gone, but that there were some is worth knowing.
  if (warnings.includes('noncanonical')) keys[from + bytes - 1] = (keys[from + bytes - 1] ?? 0) | 1;
}

/** Tunnel endpoints come in any order, but there are only as many as nodes: each is replaced once. */
class TunnelRedactor {
  readonly #layout: Layout;
  readonly #addresses: AddressRedactor;
  readonly #known = new Map<string, Uint8Array>();

  constructor(layout: Layout, addresses: AddressRedactor) {
    this.#layout = layout;
    this.#addresses = addresses;
  }

  redact(values: Uint8Array, at: number): void {
    const { tunnel, flags } = this.#layout.value;
    if (tunnel === undefined) return;
    const from = at + tunnel.offset;
    const end = tunnelEnd(values, from, tunnel.bytes);
    if (end === from) return;
    const isIPv6 = flags !== undefined && ((values[at + flags] ?? 0) & FLAG.ipv6tunnel) !== 0;
    // Beyond four bytes without the flag something is wrong already; no original byte may be left all the same.
    const length = tunnel.bytes === 16 && (isIPv6 || end > from + 4) ? 16 : 4;
    const stored = Buffer.from(values.buffer, values.byteOffset + from, length);
    const name = stored.toString('latin1');
    let replaced = this.#known.get(name);
    if (replaced === undefined) {
      replaced = this.#addresses.redactHost(Uint8Array.from(stored));
      if (this.#known.size < MOST_TUNNELS) this.#known.set(name, replaced);
    }
    values.set(replaced, from);
  }
}

const MOST_TUNNELS = 1 << 16;

/** Behind the last byte that is set; `from` when none is. */
function tunnelEnd(values: Uint8Array, from: number, bytes: number): number {
  let end = from + bytes;
  while (end > from && values[end - 1] === 0) end--;
  return end;
}
