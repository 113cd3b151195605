/**
 * What a healthy dual-stack cluster of two nodes looks like from each of them, after what Cilium's node manager, agent and
 * BPF listener write: an independent second telling of those rules, for tests of the comparison by labels.
 */
import { comparePrefixes, parsePrefix } from '../../src/lib/net/prefix.ts';
import type { EntryValue, SnapshotParts } from './snapshot-lines.ts';

export interface ClusterOptions {
  /** Addresses that tunnels lead to. */
  readonly underlay?: 'ipv4' | 'ipv6';
  /** Encryption of pods (a key number) and, with it, of nodes. */
  readonly podKey?: number;
  readonly nodeKey?: number;
  /** The first node serves the Kubernetes API. */
  readonly controlPlane?: boolean;
  /** Both nodes know a node of another cluster. */
  readonly mesh?: boolean;
  /** Nodes have identities of their own, numbered by each node as it likes. */
  readonly nodeSelection?: boolean;
}

interface Node {
  readonly name: string;
  readonly internal: readonly string[];
  readonly ciliumInternal: readonly string[];
  /** On the node only: no other node is told of them. */
  readonly other: readonly string[];
  readonly podCidrs: readonly string[];
  readonly health: readonly string[];
  readonly ingress: readonly string[];
  readonly pods: readonly (readonly [address: string, identity: number])[];
  /** CIDR and FQDN prefixes that its own policies name. */
  readonly local: readonly (readonly [prefix: string, labels: readonly string[]])[];
}

const SHARED: Node['local'] = [
  ['198.51.100.0/24', ['cidr:198.51.100.0/24', 'reserved:world-ipv4']],
  ['2001:db8:5::/48', ['cidr:2001-db8-5--0/48', 'reserved:world-ipv6']],
  ['203.0.113.7/32', ['fqdn:api.example.com']],
];

export const NODES: readonly [Node, Node] = [
  {
    name: 'n1',
    internal: ['192.0.2.10', '2001:db8::10'],
    ciliumInternal: ['10.12.0.1', 'fd00:12::1'],
    other: ['172.17.0.1', 'fe80::1'],
    podCidrs: ['10.12.0.0/24', 'fd00:12::/64'],
    health: ['10.12.0.99', 'fd00:12::99'],
    ingress: ['10.12.0.98', 'fd00:12::98'],
    pods: [
      ['10.12.0.7', 41234],
      ['fd00:12::7', 41234],
    ],
    local: [['203.0.113.128/25', ['cidr:203.0.113.128/25', 'reserved:world-ipv4']], ...SHARED],
  },
  {
    name: 'n2',
    internal: ['192.0.2.11', '2001:db8::11'],
    ciliumInternal: ['10.13.0.1', 'fd00:13::1'],
    other: ['172.17.0.1', '172.18.0.1'],
    podCidrs: ['10.13.0.0/24', 'fd00:13::/64'],
    health: ['10.13.0.99', 'fd00:13::99'],
    ingress: ['10.13.0.98', 'fd00:13::98'],
    pods: [
      ['10.13.0.8', 41235],
      ['fd00:13::8', 41235],
    ],
    local: [...SHARED, ['203.0.113.64/26', ['cidr:203.0.113.64/26', 'reserved:world-ipv4']]],
  },
];

/** The snapshot of one node. */
export function nodeSnapshot(index: 0 | 1, options: ClusterOptions = {}): SnapshotParts {
  const { underlay = 'ipv4', podKey = 0, nodeKey = 0, controlPlane = false, mesh = false } = options;
  const [own, peer] = index === 0 ? NODES : ([NODES[1], NODES[0]] as const);
  const peerAddress = peer.internal[underlay === 'ipv4' ? 0 : 1] ?? '';
  const entries: EntryValue[] = [];
  const identities: { identity: number; labels: readonly string[] }[] = [];
  const add = (prefix: string, identity: number, tunnel?: string, encryptKey = 0, flags = 0): void => {
    const canonical = prefix.includes('/') ? prefix : `${prefix}/${prefix.includes(':') ? 128 : 32}`;
    const tunnelFlags = tunnel === undefined ? 0 : tunnel.includes(':') ? 6 : 2;
    entries.push({
      prefix: canonical,
      family: prefix.includes(':') ? 'ipv6' : 'ipv4',
      identity,
      ...(tunnel !== undefined && { tunnelEndpoint: tunnel }),
      encryptKey,
      flags: flags | tunnelFlags,
    });
  };
  const world = (prefix: string): number => (prefix.includes(':') ? 10 : 9);

  add('0.0.0.0/0', 9);
  add('::/0', 10);
  for (const address of [...own.internal, ...own.ciliumInternal, ...own.other]) add(address, 1);
  for (const address of own.health) add(address, 4);
  for (const address of own.ingress) add(address, 8);
  for (const [address, identity] of own.pods) add(address, identity, undefined, podKey);

  const peerIdentity = options.nodeSelection ? 33554433 + index : controlPlane && index === 1 ? 7 : 6;
  if (options.nodeSelection) identities.push({ identity: peerIdentity, labels: ['reserved:remote-node'] });
  for (const address of peer.internal) add(address, peerIdentity, undefined, nodeKey);
  for (const address of peer.ciliumInternal) add(address, peerIdentity, peerAddress, nodeKey);
  for (const prefix of peer.podCidrs) add(prefix, world(prefix), peerAddress, nodeKey);
  for (const address of peer.health) add(address, 4, peerAddress, nodeKey);
  for (const address of peer.ingress) add(address, 8, peerAddress, nodeKey);
  for (const [address, identity] of peer.pods) add(address, identity, peerAddress, podKey);
  if (mesh) add('192.0.2.200', 6, undefined, nodeKey, 8);

  own.local.forEach(([prefix, labels], i) => {
    const identity = 16777217 + i * 3 + index;
    identities.push({ identity, labels });
    add(prefix, identity);
  });
  const order = (a: EntryValue, b: EntryValue): number => comparePrefixes(parsePrefix(a.prefix), parsePrefix(b.prefix));
  return {
    header: { node: own.name, machine: String(index).repeat(32), bootId: `boot-${own.name}` },
    identities: identities.sort((a, b) => a.identity - b.identity),
    entries: entries.sort(order),
  };
}
