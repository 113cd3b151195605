/**
 * One entry of a snapshot as numbers and bytes. A row is filled again and again while a file is read, so that reading
 * half a million lines makes no half a million objects.
 */
import { type Family, formatAddress } from '../net/address.ts';
import { addressBits, formatPrefix, makePrefix, type Prefix } from '../net/prefix.ts';

/** Bytes of a sort key: family 1, cluster ID 2 (big endian), address 16, length 1. */
export const SORT_KEY_BYTES = 20;
const CLUSTER_AT = 1;
export const ADDRESS_AT = 3;
const LENGTH_AT = 19;

/** First byte of a sort key. Dead and catch-all keys have no prefix: they come last, by their text. */
export const RANK = { ipv4: 1, ipv6: 2, raw: 3 } as const;

export class EntryRow {
  /** Comparing these bytes gives the order of the file. */
  readonly sortKey = new Uint8Array(SORT_KEY_BYTES);
  /** `0x` and 48 digits for a key that is no prefix; empty for all others. */
  rawKey = '';
  identity = 0;
  encryptKey = 0;
  /** The whole flags byte. */
  flags = 0;
  /** 0 (no tunnel), 4 or 16 bytes of `tunnel` are meant. */
  tunnelBytes: 0 | 4 | 16 = 0;
  readonly tunnel = new Uint8Array(16);
  /** What else the line says: `warnings`, `value`; as JSON text, empty nearly always. */
  extra = '';

  /** The cluster ID of a row with a prefix. */
  get clusterId(): number {
    return ((this.sortKey[CLUSTER_AT] ?? 0) << 8) | (this.sortKey[CLUSTER_AT + 1] ?? 0);
  }

  get length(): number {
    return this.sortKey[LENGTH_AT] ?? 0;
  }

  get family(): Family {
    return this.sortKey[0] === RANK.ipv6 ? 'ipv6' : 'ipv4';
  }

  /** The canonical prefix, copied; undefined for dead and catch-all keys. */
  prefix(): Prefix | undefined {
    if (this.rawKey !== '') return undefined;
    const bytes = addressBits(this.family) / 8;
    return makePrefix(this.sortKey.subarray(ADDRESS_AT, ADDRESS_AT + bytes), this.length, this.clusterId);
  }

  /** `ADDR/LEN[@CLUSTER]`, or `0x…` for dead and catch-all keys. */
  prefixText(): string {
    const prefix = this.prefix();
    return prefix === undefined ? this.rawKey : formatPrefix(prefix);
  }

  /** The tunnel endpoint as text; undefined where there is none. */
  tunnelText(): string | undefined {
    return this.tunnelBytes === 0 ? undefined : formatAddress(this.tunnel.subarray(0, this.tunnelBytes));
  }

  /** Makes this row a row with a prefix. The address is taken as it is, host bits must be zero. */
  setPrefix(family: Family, clusterId: number, address: Uint8Array, length: number): void {
    const key = this.sortKey.fill(0);
    key[0] = RANK[family];
    key[CLUSTER_AT] = clusterId >> 8;
    key[CLUSTER_AT + 1] = clusterId & 0xff;
    key.set(address, ADDRESS_AT);
    key[LENGTH_AT] = length;
    this.rawKey = '';
  }

  /** Makes this row one that is known by its raw key. */
  setRawKey(text: string): void {
    this.sortKey.fill(0)[0] = RANK.raw;
    this.rawKey = text;
  }

  /** Whether identity, tunnel endpoint, encrypt key and flags are the same; the prefix does not count. */
  sameValue(row: EntryRow): boolean {
    if (this.identity !== row.identity || this.encryptKey !== row.encryptKey || this.flags !== row.flags) return false;
    if (this.tunnelBytes !== row.tunnelBytes) return false;
    for (let i = 0; i < this.tunnelBytes; i++) if (this.tunnel[i] !== row.tunnel[i]) return false;
    return true;
  }
}

/** The order of a snapshot: family, cluster, address, length; raw keys last. */
export function compareRows(a: EntryRow, b: EntryRow): number {
  for (let i = 0; i < SORT_KEY_BYTES; i++) {
    const difference = (a.sortKey[i] ?? 0) - (b.sortKey[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.rawKey === b.rawKey ? 0 : a.rawKey < b.rawKey ? -1 : 1;
}
