/**
 * The 24-byte key: bytes ↔ canonical prefix. Any 24 bytes decode to something; a key that no lookup can ask for, or that
 * matches more than one prefix could say, has no prefix and is known by its raw bytes.
 * After Key in pkg/maps/ipcache (Cilium 1.0 to 1.21-dev) and struct ipcache_key in bpf/lib/eps.h.
 */
import { LayoutError } from '../errors.ts';
import { type Family, isMapped } from '../net/address.ts';
import { addressBits, formatPrefix, makePrefix, type Prefix } from '../net/prefix.ts';
import { FAMILY_IPV4, FAMILY_IPV6, KEY_BYTES, type Layout, STATIC_PREFIX_BITS } from './layout.ts';

/**
 * - `noncanonical`: bits beyond the length are set; the kernel ignores them
 * - `catch-all`: shorter than the fixed 32 bits, so it answers lookups of any address
 * - `dead-entry`: no lookup ever asks for it (a pad byte set, IPv4 beyond /32, longer than the key)
 * - `unknown-family`: dead as well, neither IPv4 nor IPv6
 * - `v4-mapped`: an IPv6 key in `::ffff:0:0/96`; not the same entry as that of the IPv4 address
 */
export type KeyWarning = 'noncanonical' | 'catch-all' | 'dead-entry' | 'unknown-family' | 'v4-mapped';

export interface DecodedKey {
  /** Canonical, family `ipv6` where the key says so even for v4-mapped addresses; absent for dead and catch-all keys. */
  readonly prefix?: Prefix;
  /** `any`: a catch-all that answers both families. */
  readonly family: Family | 'any' | 'unknown';
  /** 0 where the layout has none. */
  readonly clusterId: number;
  /** As stored: address bits + 32. */
  readonly prefixlen: number;
  /** Empty for a sound key; in the fixed order of the type. */
  readonly warnings: readonly KeyWarning[];
}

const NONE: readonly KeyWarning[] = [];
const FAMILY_BITS = { unknown: 0, ipv4: STATIC_PREFIX_BITS + 32, ipv6: STATIC_PREFIX_BITS + 128 } as const;

/** Reads the key at `offset`; the caller guarantees 24 bytes there. Never throws. */
export function decodeKey(layout: Layout, keys: Uint8Array, offset = 0): DecodedKey {
  const prefixlen = keyPrefixlen(keys, offset);
  const clusterId = keyClusterId(layout, keys, offset);
  const family = familyOfByte(keys[offset + 7]);
  if (prefixlen < STATIC_PREFIX_BITS) return decodeShort(layout, keys, offset, { prefixlen, clusterId });
  const padSet = layout.key.pad.some((at) => keys[offset + at] !== 0);
  if (family === 'unknown') {
    return { family, clusterId, prefixlen, warnings: padSet ? ['dead-entry', 'unknown-family'] : ['unknown-family'] };
  }
  if (padSet || prefixlen > FAMILY_BITS[family]) return { family, clusterId, prefixlen, warnings: ['dead-entry'] };
  const stored = keys.subarray(offset + 8, offset + 8 + addressBits(family) / 8);
  const prefix = makePrefix(stored, prefixlen - STATIC_PREFIX_BITS, clusterId);
  const canonical = sameAddress(prefix.address, keys, offset + 8);
  const mapped = family === 'ipv6' && isMapped(prefix.address);
  if (canonical && !mapped) return { prefix, family, clusterId, prefixlen, warnings: NONE };
  const warnings: KeyWarning[] = canonical ? [] : ['noncanonical'];
  if (mapped) warnings.push('v4-mapped');
  return { prefix, family, clusterId, prefixlen, warnings };
}

/**
 * Writes a canonical prefix as a key.
 * @throws {LayoutError} when the layout has no room for the cluster ID.
 */
export function encodeKey(layout: Layout, prefix: Prefix, key = new Uint8Array(KEY_BYTES)): Uint8Array {
  const field = layout.key.clusterId;
  if (prefix.clusterId !== 0 && (field === undefined || prefix.clusterId >= 256 ** field.bytes)) {
    const state = field === undefined ? 'has no cluster ID' : `holds cluster IDs up to ${256 ** field.bytes - 1}`;
    throw new LayoutError(`Cannot encode ${formatPrefix(prefix)}: layout ${layout.name} ${state}`, {
      hint: 'choose the layout of the map with --layout, or leave out the cluster ID',
      operands: { prefix: formatPrefix(prefix), layout: layout.name },
    });
  }
  key.fill(0);
  key[0] = prefix.length + STATIC_PREFIX_BITS;
  if (field !== undefined) key[field.offset] = prefix.clusterId & 0xff;
  if (field?.bytes === 2) key[field.offset + 1] = prefix.clusterId >> 8;
  key[7] = prefix.family === 'ipv4' ? FAMILY_IPV4 : FAMILY_IPV6;
  key.set(prefix.address, 8);
  return key;
}

/** The text an entry is known by: its prefix, or for dead and catch-all keys `0x` and the 48 digits of the key. */
export function keyText(key: DecodedKey, keys: Uint8Array, offset = 0): string {
  return key.prefix === undefined ? `0x${hexOf(keys, offset, KEY_BYTES)}` : formatPrefix(key.prefix);
}

/** Lower-case hexadecimal digits without separators. */
export function hexOf(bytes: Uint8Array, offset = 0, length = bytes.length): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + offset, length).toString('hex');
}

/** The stored prefixlen, u32. */
export function keyPrefixlen(keys: Uint8Array, offset: number): number {
  return readU16(keys, offset) + readU16(keys, offset + 2) * 0x10000;
}

/** The cluster ID that the layout finds in the key; 0 where it has none. */
export function keyClusterId(layout: Layout, keys: Uint8Array, offset: number): number {
  const field = layout.key.clusterId;
  if (field === undefined) return 0;
  return field.bytes === 1 ? (keys[offset + field.offset] ?? 0) : readU16(keys, offset + field.offset);
}

/** A key shorter than the 32 fixed bits: it answers whatever agrees with those of them that count. */
function decodeShort(
  layout: Layout,
  keys: Uint8Array,
  offset: number,
  key: { readonly prefixlen: number; readonly clusterId: number },
): DecodedKey {
  const counts = (at: number): number => {
    const bits = Math.min(8, Math.max(0, key.prefixlen - (at - 4) * 8));
    return (0xff00 >> bits) & 0xff;
  };
  const padSet = layout.key.pad.some((at) => ((keys[offset + at] ?? 0) & counts(at)) !== 0);
  const answers = (family: number): boolean => !padSet && (((keys[offset + 7] ?? 0) ^ family) & counts(7)) === 0;
  const ipv4 = answers(FAMILY_IPV4);
  const ipv6 = answers(FAMILY_IPV6);
  if (!ipv4 && !ipv6) return { ...key, family: 'unknown', warnings: ['dead-entry'] };
  return { ...key, family: ipv4 && ipv6 ? 'any' : ipv4 ? 'ipv4' : 'ipv6', warnings: ['catch-all'] };
}

function familyOfByte(byte: number | undefined): Family | 'unknown' {
  return byte === FAMILY_IPV4 ? 'ipv4' : byte === FAMILY_IPV6 ? 'ipv6' : 'unknown';
}

/** Whether the 16 stored address bytes are exactly the masked address and zeros after it. */
function sameAddress(address: Uint8Array, keys: Uint8Array, offset: number): boolean {
  for (let i = 0; i < 16; i++) if (keys[offset + i] !== (address[i] ?? 0)) return false;
  return true;
}

function readU16(bytes: Uint8Array, offset: number): number {
  return (bytes[offset] ?? 0) | ((bytes[offset + 1] ?? 0) << 8);
}
