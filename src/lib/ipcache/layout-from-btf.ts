/**
 * The layout as the map's own type information tells it. Maps that Cilium's agent creates carry none; where another
 * maker's map has it, its member names and offsets decide.
 */
import { LayoutError } from '../errors.ts';
import { FLAG, type KeyLayout, type ValueLayout } from './layout.ts';

/** One member of a BTF struct. */
export interface StructMember {
  /** Empty for an anonymous struct or union. */
  readonly name: string;
  /** From the start of the struct, in bits, because flags are bit fields. */
  readonly bitOffset: number;
  /** Bytes of the member's type. */
  readonly bytes: number;
}

const FLAG_MEMBERS: Readonly<Record<string, number>> = {
  flag_skip_tunnel: FLAG.skiptunnel,
  flag_has_tunnel_ep: FLAG.hastunnel,
  flag_ipv6_tunnel_ep: FLAG.ipv6tunnel,
  flag_remote_cluster: FLAG.remotecluster,
};

/**
 * Finds the fields of a value by the names that struct remote_endpoint_info has had.
 * @returns undefined when no member is an identity: the type is some other struct.
 * @throws {LayoutError} when a known name has a size or place that cannot be read.
 */
export function valueLayoutFromBtf(members: readonly StructMember[], bytes: number): ValueLayout | undefined {
  const find = (...names: string[]) => members.find((member) => names.includes(member.name));
  const identity = find('sec_identity', 'sec_label');
  if (identity === undefined) return undefined;
  const tunnel = find('tunnel_endpoint');
  const nodeId = find('node_id');
  const encryptKey = find('key');
  const flags = members.filter((member) => member.name in FLAG_MEMBERS);
  return {
    bytes,
    identity: { offset: offsetOf(identity, bytes, 2, 4), bytes: identity.bytes === 2 ? 2 : 4 },
    ...(tunnel && { tunnel: { offset: offsetOf(tunnel, bytes, 4, 16), bytes: tunnel.bytes === 4 ? 4 : 16 } }),
    ...(nodeId && { nodeId: offsetOf(nodeId, bytes, 2) }),
    ...(encryptKey && { encryptKey: offsetOf(encryptKey, bytes, 1) }),
    ...flagsOf(flags, bytes),
  };
}

/**
 * Finds the cluster ID of a key by the names that struct ipcache_key has had.
 * @returns undefined when the type has no member called `family`. @throws {LayoutError} as for values.
 */
export function keyLayoutFromBtf(members: readonly StructMember[]): KeyLayout | undefined {
  const family = members.find((member) => member.name === 'family');
  if (family === undefined) return undefined;
  if (family.bitOffset !== 7 * 8 || family.bytes !== 1) refuse(family, 'the family is one byte at offset 7');
  const cluster = members.find((member) => member.name === 'cluster_id');
  if (cluster === undefined) return { pad: [4, 5, 6] };
  const offset = offsetOf(cluster, 7, 1, 2);
  if (offset < 4) refuse(cluster, 'the prefixlen is there');
  const bytes = cluster.bytes === 1 ? 1 : 2;
  return { clusterId: { offset, bytes }, pad: [4, 5, 6].filter((at) => at < offset || at >= offset + bytes) };
}

function flagsOf(members: readonly StructMember[], bytes: number): Pick<ValueLayout, 'flags' | 'knownFlags'> {
  const [first] = members;
  if (first === undefined) return { knownFlags: 0 };
  const offset = first.bitOffset >> 3;
  let knownFlags = 0;
  for (const member of members) {
    const bit = FLAG_MEMBERS[member.name] ?? 0;
    if (member.bitOffset >> 3 !== offset || 1 << (member.bitOffset & 7) !== bit || offset >= bytes) {
      refuse(member, 'this flag is another bit of one byte');
    }
    knownFlags |= bit;
  }
  return { flags: offset, knownFlags };
}

function offsetOf(member: StructMember, structBytes: number, ...sizes: readonly number[]): number {
  const offset = member.bitOffset / 8;
  if (!sizes.includes(member.bytes)) refuse(member, `it has ${sizes.join(' or ')} bytes in every known version`);
  if (!Number.isInteger(offset) || offset + member.bytes > structBytes) refuse(member, 'it does not lie in the struct');
  return offset;
}

function refuse(member: StructMember, known: string): never {
  throw new LayoutError(
    `Cannot use the type information of the map: member ${JSON.stringify(member.name)} has ${member.bytes} bytes at bit ` +
      `${member.bitOffset}, but ${known}`,
    { code: 'BTF', hint: 'name the layout with --layout', operands: { field: member.name } },
  );
}
