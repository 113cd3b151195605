/**
 * The byte layouts in which Cilium has written its ipcache map, as rows of data. Integers are little endian on every
 * machine supported here, addresses are in network order, an offset counts from the start of the key or the value.
 * After pkg/maps/ipcache/ipcache.go and bpf/lib/{common,eps}.h of Cilium 1.0 to 1.21-dev.
 */

/** Every key of every version has this many bytes: prefixlen u32 at 0, family u8 at 7, address at 8. */
export const KEY_BYTES = 24;
/** Bits at offsets 4 to 7 of the key that the stored prefixlen counts before those of the address. */
export const STATIC_PREFIX_BITS = 32;
export const FAMILY_IPV4 = 1;
export const FAMILY_IPV6 = 2;

/** Bits of the flags byte, named as Cilium prints them. */
export const FLAG = { skiptunnel: 1, hastunnel: 2, ipv6tunnel: 4, remotecluster: 8 } as const;

export interface KeyLayout {
  /** The cluster ID of the entry; absent where the version had none, and the bytes are padding. */
  readonly clusterId?: { readonly offset: number; readonly bytes: 1 | 2 };
  /** Bytes of 4 to 6 that no lookup of this version sets: an entry with one of them set is dead. */
  readonly pad: readonly number[];
}

export interface ValueLayout {
  readonly bytes: number;
  readonly identity: { readonly offset: number; readonly bytes: 2 | 4 };
  /** 4 bytes hold IPv4, 16 hold IPv6 or IPv4 in the first four; absent in the oldest version. */
  readonly tunnel?: { readonly offset: number; readonly bytes: 4 | 16 };
  /** u16 at this offset. */
  readonly nodeId?: number;
  /** u8 at this offset. */
  readonly encryptKey?: number;
  /** u8 at this offset. */
  readonly flags?: number;
  /** The flag bits that this version gives a meaning to; all others are unknown. */
  readonly knownFlags: number;
}

export interface Layout {
  /** What --layout takes and reports print: the first Cilium version that wrote it, or the map's own suffix. */
  readonly name: string;
  /** The Cilium versions that wrote it, for people. */
  readonly cilium: string;
  readonly key: KeyLayout;
  readonly value: ValueLayout;
}

const NO_CLUSTER: KeyLayout = { pad: [4, 5, 6] };
const CLUSTER_U8: KeyLayout = { clusterId: { offset: 6, bytes: 1 }, pad: [4, 5] };
const CLUSTER_U16: KeyLayout = { clusterId: { offset: 4, bytes: 2 }, pad: [6] };
const IDENTITY_U32 = { offset: 0, bytes: 4 } as const;
const TUNNEL_IPV4 = { offset: 4, bytes: 4 } as const;
const TUNNEL_ANY = { offset: 4, bytes: 16 } as const;

/** All rows, the newest first. */
export const LAYOUTS = [
  {
    name: 'v2',
    cilium: '1.18 and later',
    key: CLUSTER_U16,
    value: { bytes: 24, identity: IDENTITY_U32, tunnel: TUNNEL_ANY, encryptKey: 22, flags: 23, knownFlags: 0x0f },
  },
  {
    name: '1.16',
    cilium: '1.16, 1.17',
    key: CLUSTER_U16,
    value: { bytes: 12, identity: IDENTITY_U32, tunnel: TUNNEL_IPV4, encryptKey: 10, flags: 11, knownFlags: 0x01 },
  },
  {
    name: '1.15',
    cilium: '1.15',
    key: CLUSTER_U16,
    value: { bytes: 12, identity: IDENTITY_U32, tunnel: TUNNEL_IPV4, encryptKey: 10, knownFlags: 0 },
  },
  {
    name: '1.14',
    cilium: '1.14',
    key: CLUSTER_U8,
    value: { bytes: 12, identity: IDENTITY_U32, tunnel: TUNNEL_IPV4, nodeId: 8, encryptKey: 10, knownFlags: 0 },
  },
  {
    name: '1.5',
    cilium: '1.5 to 1.13',
    key: NO_CLUSTER,
    value: { bytes: 12, identity: IDENTITY_U32, tunnel: TUNNEL_IPV4, encryptKey: 8, knownFlags: 0 },
  },
  {
    name: '1.2',
    cilium: '1.2 to 1.4',
    key: NO_CLUSTER,
    value: { bytes: 8, identity: IDENTITY_U32, tunnel: TUNNEL_IPV4, knownFlags: 0 },
  },
  {
    name: '1.0',
    cilium: '1.0, 1.1',
    key: NO_CLUSTER,
    value: { bytes: 8, identity: { offset: 0, bytes: 2 }, knownFlags: 0 },
  },
] as const satisfies readonly Layout[];

export type LayoutName = (typeof LAYOUTS)[number]['name'];

export const LAYOUT_NAMES: readonly LayoutName[] = LAYOUTS.map((layout) => layout.name);

/** The row of that name. */
export function layoutNamed(name: LayoutName): Layout {
  for (const layout of LAYOUTS) if (layout.name === name) return layout;
  throw new TypeError(`no layout row ${name}`);
}
