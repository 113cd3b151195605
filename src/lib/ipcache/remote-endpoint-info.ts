/**
 * The value of an ipcache entry: what the datapath is told about a remote address.
 * After RemoteEndpointInfo in pkg/maps/ipcache (Cilium 1.0 to 1.21-dev) and struct remote_endpoint_info in bpf/lib/eps.h.
 */
import { LayoutError } from '../errors.ts';
import { type NumericIdentity, numericIdentity } from '../identity/numeric-identity.ts';
import { formatAddress, isMapped } from '../net/address.ts';
import { FLAG, type Layout, type ValueLayout } from './layout.ts';

export interface RemoteEndpointInfo {
  readonly identity: NumericIdentity;
  /** The stored 4 or 16 bytes, whatever the flags say; absent where the layout has no tunnel. */
  readonly tunnelBytes?: Uint8Array;
  /** 0 (not encrypted) where the layout has no encrypt key. */
  readonly encryptKey: number;
  /** The whole byte, unknown bits included; 0 where the layout has no flags. */
  readonly flags: number;
  /** Only where the layout has one. */
  readonly nodeId?: number;
}

/** What a new value is made from; everything left out is zero. */
export interface RemoteEndpoint {
  readonly identity: NumericIdentity;
  /** 4 or 16 bytes. */
  readonly tunnel?: Uint8Array;
  readonly encryptKey?: number;
  readonly flags?: number;
  readonly nodeId?: number;
}

/** Reads the value at `offset`; the caller guarantees the layout's bytes there. Copies what it returns. Never throws. */
export function decodeValue(layout: Layout, values: Uint8Array, offset = 0): RemoteEndpointInfo {
  const { identity, tunnel, encryptKey, flags, nodeId } = layout.value;
  return {
    identity: numericIdentity(readUint(values, offset + identity.offset, identity.bytes)),
    ...(tunnel && { tunnelBytes: values.slice(offset + tunnel.offset, offset + tunnel.offset + tunnel.bytes) }),
    encryptKey: encryptKey === undefined ? 0 : (values[offset + encryptKey] ?? 0),
    flags: flags === undefined ? 0 : (values[offset + flags] ?? 0),
    ...(nodeId !== undefined && { nodeId: readUint(values, offset + nodeId, 2) }),
  };
}

/**
 * Makes a value as Cilium's NewValue does: the flags given, and with a tunnel also `hastunnel` and, for 16 bytes,
 * `ipv6tunnel`, as far as the layout knows them.
 * @throws {LayoutError} when the layout has no place for a part that is not zero.
 */
export function newRemoteEndpointInfo(layout: Layout, endpoint: RemoteEndpoint): RemoteEndpointInfo {
  const { value } = layout;
  const { identity, encryptKey = 0, nodeId = 0 } = endpoint;
  if (value.identity.bytes === 2 && identity > 0xffff) refuse(layout, `identity ${identity}`, 'it has 16 bits for it');
  if (encryptKey !== 0 && value.encryptKey === undefined) refuse(layout, 'an encrypt key', 'it has none');
  if (nodeId !== 0 && value.nodeId === undefined) refuse(layout, 'a node ID', 'it has none');
  const { tunnelBytes, tunnelFlags } = placeTunnel(layout, endpoint.tunnel);
  const flags = (endpoint.flags ?? 0) | tunnelFlags;
  if (flags !== 0 && value.flags === undefined) refuse(layout, 'flags', 'it has none');
  return {
    identity,
    ...(tunnelBytes && { tunnelBytes }),
    encryptKey,
    flags,
    ...(value.nodeId !== undefined && { nodeId }),
  };
}

/** Writes a value; padding becomes zero, unknown flag bits are kept. The inverse of {@link decodeValue}. */
export function encodeValue(
  layout: Layout,
  info: RemoteEndpointInfo,
  value = new Uint8Array(layout.value.bytes),
): Uint8Array {
  const { identity, tunnel, encryptKey, flags, nodeId } = layout.value;
  value.fill(0);
  writeUint(value, identity.offset, identity.bytes, info.identity);
  if (tunnel && info.tunnelBytes) copyTo(value, tunnel, info.tunnelBytes);
  if (encryptKey !== undefined) value[encryptKey] = info.encryptKey;
  if (flags !== undefined) value[flags] = info.flags;
  if (nodeId !== undefined) writeUint(value, nodeId, 2, info.nodeId ?? 0);
  return value;
}

/** Whether any tunnel byte is set, which is what restoring goes by. */
export function hasTunnelBytes(info: RemoteEndpointInfo): boolean {
  return info.tunnelBytes?.some((byte) => byte !== 0) ?? false;
}

/** Whether the datapath sees a tunnel: `hastunnel`, and before that flag existed any byte set. */
export function hasTunnel(layout: ValueLayout, info: RemoteEndpointInfo): boolean {
  return (layout.knownFlags & FLAG.hastunnel) === 0 ? hasTunnelBytes(info) : (info.flags & FLAG.hastunnel) !== 0;
}

/** The tunnel bytes as an address, present or not: IPv6 when the layout has room and `ipv6tunnel` says so. */
export function tunnelText(info: RemoteEndpointInfo): string {
  const bytes = info.tunnelBytes ?? new Uint8Array(4);
  const ipv6 = bytes.length === 16 && (info.flags & FLAG.ipv6tunnel) !== 0;
  return formatAddress(ipv6 ? bytes : bytes.subarray(0, 4));
}

function placeTunnel(layout: Layout, address: Uint8Array | undefined) {
  const { tunnel, knownFlags } = layout.value;
  if (address === undefined) return { tunnelBytes: tunnel && new Uint8Array(tunnel.bytes), tunnelFlags: 0 };
  if (tunnel === undefined) refuse(layout, 'a tunnel endpoint', 'it has none');
  const placed = tunnel.bytes === 4 && isMapped(address) ? address.subarray(12) : address;
  // Only a layout that knows ipv6tunnel may be given IPv6; Cilium's last 12-byte code did and cut the address off.
  if (placed.length === 16 && (knownFlags & FLAG.ipv6tunnel) === 0) {
    refuse(layout, `tunnel endpoint ${formatAddress(address)}`, 'it has room for IPv4 only');
  }
  const tunnelBytes = new Uint8Array(tunnel.bytes);
  copyTo(tunnelBytes, { offset: 0, bytes: tunnel.bytes }, placed);
  const wanted = placed.length === 16 ? FLAG.hastunnel | FLAG.ipv6tunnel : FLAG.hastunnel;
  return { tunnelBytes, tunnelFlags: wanted & knownFlags };
}

/** A loop, because views and `set()` cost more than 16 bytes do. */
function copyTo(out: Uint8Array, field: { readonly offset: number; readonly bytes: number }, from: Uint8Array): void {
  const length = Math.min(field.bytes, from.length);
  for (let i = 0; i < length; i++) out[field.offset + i] = from[i] ?? 0;
}

function refuse(layout: Layout, part: string, state: string): never {
  throw new LayoutError(`Cannot write ${part} into layout ${layout.name}: ${state}`, {
    hint: 'leave it out, or choose the layout of the map with --layout',
    operands: { layout: layout.name },
  });
}

function readUint(bytes: Uint8Array, offset: number, length: number): number {
  let value = 0;
  for (let i = 0; i < length; i++) value |= (bytes[offset + i] ?? 0) << (8 * i);
  return value >>> 0;
}

function writeUint(bytes: Uint8Array, offset: number, length: number, value: number): void {
  for (let i = 0; i < length; i++) bytes[offset + i] = (value >>> (8 * i)) & 0xff;
}
