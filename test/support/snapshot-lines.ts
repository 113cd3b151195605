/** Arbitrary entries of a snapshot, and their lines as the program writes them. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { scopeOf } from '../../src/lib/identity/numeric-identity.ts';
import { flagNames } from '../../src/lib/ipcache/flags.ts';
import { formatAddress, isMapped } from '../../src/lib/net/address.ts';
import { comparePrefixes, formatPrefix, makePrefix, parsePrefix } from '../../src/lib/net/prefix.ts';
import type { SnapshotHeader, SnapshotIdentity } from '../../src/lib/snapshot/lines.ts';

export interface EntryValue {
  readonly prefix: string;
  readonly clusterId?: number;
  readonly family: 'ipv4' | 'ipv6';
  readonly identity: number;
  readonly tunnelEndpoint?: string;
  readonly encryptKey: number;
  /** The flags byte. */
  readonly flags: number;
}

const byte = fc.constantFrom(0, 0, 1, 10, 255);
const address = fc.oneof(
  fc.array(byte, { minLength: 4, maxLength: 4 }),
  fc.array(byte, { minLength: 16, maxLength: 16 }),
);

export const entryValue: fc.Arbitrary<EntryValue> = fc
  .record({
    address: address.map((bytes) => Uint8Array.from(bytes)).filter((bytes) => !isMapped(bytes)),
    length: fc.nat(128),
    clusterId: fc.constantFrom(0, 0, 0, 1, 300, 65535),
    identity: fc.oneof(fc.nat(300), fc.constantFrom(16777217, 16777218, 33554433, 50331649, 106300)),
    tunnel: fc.option(address, { nil: undefined }),
    encryptKey: fc.constantFrom(0, 0, 3, 255),
    flags: fc.nat(15),
  })
  .map(({ address, length, clusterId, identity, tunnel, encryptKey, flags }) => {
    const prefix = makePrefix(address, Math.min(length, address.length * 8), clusterId);
    const bytes = tunnel === undefined || isMapped(Uint8Array.from(tunnel)) ? undefined : Uint8Array.from(tunnel);
    // As in a map: the flags say whether there is a tunnel and of which family.
    const tunnelFlags = bytes === undefined ? 0 : bytes.length === 16 ? 6 : 2;
    return {
      prefix: formatPrefix(prefix),
      ...(clusterId !== 0 && { clusterId }),
      family: prefix.family,
      identity,
      ...(bytes && { tunnelEndpoint: formatAddress(bytes) }),
      encryptKey,
      flags: (flags & ~6) | tunnelFlags,
    };
  });

/** The line without its newline. */
export function entryLine(value: EntryValue): string {
  const { prefix, clusterId, family, identity, tunnelEndpoint, encryptKey, flags } = value;
  return JSON.stringify({
    prefix,
    clusterId,
    family,
    identity,
    scope: scopeOf(identity),
    tunnelEndpoint,
    encryptKey,
    flags: flagNames(flags),
  });
}

/** Distinct entries in the order of a snapshot. */
export const entryValues: fc.Arbitrary<EntryValue[]> = fc
  .uniqueArray(entryValue, { selector: (value) => value.prefix, maxLength: 30 })
  .map(sortEntries);

/** The order of a snapshot. */
export function sortEntries(values: readonly EntryValue[]): EntryValue[] {
  return [...values].sort((a, b) => comparePrefixes(parsePrefix(a.prefix), parsePrefix(b.prefix)));
}

export const HEADER: SnapshotHeader = {
  node: 'n1',
  cluster: 'east',
  machine: '0123456789abcdef0123456789abcdef',
  bootId: '3fa85f64-5717-4562-b3fc-2c963f66afa6',
  kernel: '6.18.44',
  time: '2026-01-02T03:04:05.006Z',
  map: { id: 189, pin: '/sys/fs/bpf/tc/globals/cilium_ipcache_v2', layout: 'v2', maxEntries: 512000, flags: 129 },
  families: ['ipv4', 'ipv6'],
};

export interface SnapshotParts {
  readonly header?: Partial<SnapshotHeader>;
  readonly identities?: readonly SnapshotIdentity[];
  /** In the order of a snapshot. */
  readonly entries?: readonly EntryValue[];
  readonly complete?: boolean;
}

/** A whole file, made without the writer that is under test. */
export function snapshotText({ header, identities = [], entries = [], complete = true }: SnapshotParts): string {
  const lines = [
    JSON.stringify({ kind: 'ipcache-snapshot', schemaVersion: 1, ...HEADER, ...header }),
    ...identities.map((identity) => JSON.stringify(identity)),
    ...entries.map(entryLine),
  ];
  const body = `${lines.join('\n')}\n`;
  const sha256 = createHash('sha256').update(body).digest('hex');
  const end = { end: true, identities: identities.length, entries: entries.length, complete, sha256 };
  return `${body}${JSON.stringify(end)}\n`;
}
