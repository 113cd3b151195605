/** The entries of a snapshot file as the bytes that its map had. */

import { numericIdentity } from '../identity/numeric-identity.ts';
import type { EntryTable } from '../ipcache/entry-table.ts';
import { EntryTable as Table } from '../ipcache/entry-table.ts';
import { encodeKey } from '../ipcache/key.ts';
import { KEY_BYTES, type Layout, layoutNamed } from '../ipcache/layout.ts';
import { encodeValue } from '../ipcache/remote-endpoint-info.ts';
import type { EntryRow } from './entry-row.ts';
import type { SnapshotMap } from './lines.ts';
import { visitRows } from './read-rows.ts';
import type { SnapshotReader } from './snapshot-reader.ts';

/** The layout in which the entries of a snapshot can be written as bytes. */
export function snapshotLayout({ layout }: SnapshotMap): Layout {
  // The newest one holds whatever a map that described itself can have held.
  return layoutNamed(layout === 'btf' ? 'v2' : layout);
}

/**
 * Reads all entries. Bytes that no field shows are zero, but those of which the line has the bytes themselves.
 * @throws {MalformedError} as `visitRows`
 */
export async function readTable(reader: SnapshotReader): Promise<EntryTable> {
  const layout = snapshotLayout(reader.header.map);
  const table = new Table(layout.value.bytes);
  const key = new Uint8Array(KEY_BYTES);
  const value = new Uint8Array(layout.value.bytes);
  await visitRows(reader, (row) => {
    writeKey(row, layout, key);
    writeValue(row, layout, value);
    table.add(key, 0, value, 0);
  });
  return table;
}

function writeKey(row: EntryRow, layout: Layout, key: Uint8Array<ArrayBuffer>): void {
  const prefix = row.prefix();
  if (prefix === undefined) {
    key.set(Buffer.from(row.rawKey.slice(2), 'hex'));
    return;
  }
  encodeKey(layout, prefix, key);
  // Which bits beyond the length were set is not in the line, only that some were; behind a whole IPv4 address there are more.
  if (row.extra.includes('"noncanonical"')) key[KEY_BYTES - 1] = (key[KEY_BYTES - 1] as number) | 1;
}

function writeValue(row: EntryRow, layout: Layout, value: Uint8Array<ArrayBuffer>): void {
  const stored = row.extra === '' ? undefined : (JSON.parse(row.extra) as { value?: string }).value;
  if (stored !== undefined && stored.length === value.length * 2) {
    value.set(Buffer.from(stored, 'hex'));
    return;
  }
  const { identity, encryptKey, flags } = row;
  const tunnelBytes = new Uint8Array(layout.value.tunnel?.bytes ?? 0);
  tunnelBytes.set(row.tunnel.subarray(0, Math.min(row.tunnelBytes, tunnelBytes.length)));
  encodeValue(layout, { identity: numericIdentity(identity), tunnelBytes, encryptKey, flags }, value);
}
