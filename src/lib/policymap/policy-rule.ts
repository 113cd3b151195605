/** One entry of an endpoint's policy map in words (Cilium bpf/lib/policy.h and pkg/maps/policymap, 1.9 to 1.21). */

export interface PortRange {
  readonly from: number;
  readonly to: number;
}

export interface PolicyRule {
  /** ID of the endpoint whose map it is. */
  readonly endpoint: number;
  /** The number that traffic comes from (ingress) or goes to (egress); 0 means any. */
  readonly identity: number;
  readonly direction: 'ingress' | 'egress';
  readonly action: 'allow' | 'deny';
  /** IP protocol number; absent: any. */
  readonly protocol?: number;
  /** Absent: any. */
  readonly ports?: PortRange;
}

/** The two shapes of keys that policy maps have had. */
export interface PolicyKeyLayout {
  readonly keyBytes: number;
  readonly identityAt: number;
  readonly directionAt: number;
  readonly protocolAt: number;
  /** u16, network order. */
  readonly portAt: number;
  /** Whether the first four bytes say how many bits of the rest count. */
  readonly trie: boolean;
}

/** Since 1.17: an LPM trie; its prefix covers identity and direction, then as much of protocol and port as the rule says. */
export const TRIE_KEY: PolicyKeyLayout = {
  keyBytes: 12,
  identityAt: 4,
  directionAt: 8,
  protocolAt: 9,
  portAt: 10,
  trie: true,
};

/** Up to 1.16: a hash map, in which protocol and port 0 mean any. */
export const HASH_KEY: PolicyKeyLayout = {
  keyBytes: 8,
  identityAt: 0,
  directionAt: 7,
  protocolAt: 6,
  portAt: 4,
  trie: false,
};

/** Bits of identity and direction, and of the protocol after them. */
const STATIC_BITS = 40;
const PROTOCOL_BITS = 8;
const PORT_BITS = 16;
/** Where a value has its deny bit: bit 0 of this byte. Every value is at least this long and one byte more. */
const DENY_AT = 2;
export const MIN_VALUE_BYTES = DENY_AT + 1;

/** Decodes one entry; any bytes are some rule. The caller guarantees the lengths. */
export function decodePolicyRule(
  layout: PolicyKeyLayout,
  endpoint: number,
  { keys, keyAt, values, valueAt }: { keys: Uint8Array; keyAt: number; values: Uint8Array; valueAt: number },
): PolicyRule {
  const protocol = keys[keyAt + layout.protocolAt] ?? 0;
  const port = ((keys[keyAt + layout.portAt] ?? 0) << 8) | (keys[keyAt + layout.portAt + 1] ?? 0);
  const bits = layout.trie ? readU32(keys, keyAt) - STATIC_BITS : hashBits(protocol, port);
  return {
    endpoint,
    identity: readU32(keys, keyAt + layout.identityAt),
    direction: ((keys[keyAt + layout.directionAt] ?? 0) & 1) === 1 ? 'egress' : 'ingress',
    action: ((values[valueAt + DENY_AT] ?? 0) & 1) === 1 ? 'deny' : 'allow',
    ...(bits >= PROTOCOL_BITS && { protocol }),
    ...(bits > PROTOCOL_BITS && { ports: portRange(port, Math.min(bits - PROTOCOL_BITS, PORT_BITS)) }),
  };
}

/** The number at the front of every key that matters here, without decoding the rest. */
export function policyIdentity(layout: PolicyKeyLayout, keys: Uint8Array, keyAt: number): number {
  return readU32(keys, keyAt + layout.identityAt);
}

function hashBits(protocol: number, port: number): number {
  if (port !== 0) return PROTOCOL_BITS + PORT_BITS;
  return protocol === 0 ? 0 : PROTOCOL_BITS;
}

function portRange(port: number, bits: number): PortRange {
  const rest = (1 << (PORT_BITS - bits)) - 1;
  return { from: port & ~rest, to: port | rest };
}

/** Host order, which is little endian wherever this program runs. */
function readU32(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)) >>> 0
  );
}
