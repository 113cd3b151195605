/** One entry of the map as the program talks about it, from the bytes of a walk or of a single lookup. */
import type { NumericIdentity } from '../identity/numeric-identity.ts';
import type { Prefix } from '../net/prefix.ts';
import { flagNames } from './flags.ts';
import { type DecodedKey, decodeKey, type KeyWarning, keyText } from './key.ts';
import type { Layout } from './layout.ts';
import { decodeValue, hasTunnel, tunnelText } from './remote-endpoint-info.ts';

export interface IpcacheEntry {
  /** `ADDR/LEN[@CLUSTER]`; for dead and catch-all keys `0x` and the 48 digits of the key. Unique within a map. */
  readonly prefix: string;
  /** The same as a value; absent for dead and catch-all keys. */
  readonly canonical?: Prefix;
  readonly family: DecodedKey['family'];
  /** 0 is the local cluster. */
  readonly clusterId: number;
  readonly identity: NumericIdentity;
  /** The tunnel that the datapath sees; absent when it sees none, even if tunnel bytes are set. */
  readonly tunnelEndpoint?: string;
  /** 0: not encrypted, or a layout without it. */
  readonly encryptKey: number;
  /** The whole byte. */
  readonly flags: number;
  /** Names of the bits the layout knows, then the rest as one `0x…` word. */
  readonly flagNames: readonly string[];
  /** Only in the layout that stores it. */
  readonly nodeId?: number;
  readonly warnings: readonly KeyWarning[];
}

/** Where an entry's bytes lie: the arrays may hold many entries, offsets are in bytes. */
export interface EntryBytes {
  readonly keys: Uint8Array;
  readonly keyOffset?: number;
  readonly values: Uint8Array;
  readonly valueOffset?: number;
}

/** Decodes one entry. Never throws: any bytes are some entry. The caller guarantees the lengths. */
export function decodeEntry(layout: Layout, bytes: EntryBytes): IpcacheEntry {
  const { keys, keyOffset = 0, values, valueOffset = 0 } = bytes;
  const key = decodeKey(layout, keys, keyOffset);
  const info = decodeValue(layout, values, valueOffset);
  return {
    prefix: keyText(key, keys, keyOffset),
    ...(key.prefix && { canonical: key.prefix }),
    family: key.family,
    clusterId: key.clusterId,
    identity: info.identity,
    ...(hasTunnel(layout.value, info) && { tunnelEndpoint: tunnelText(info) }),
    encryptKey: info.encryptKey,
    flags: info.flags,
    flagNames: flagNames(info.flags, layout.value.knownFlags),
    ...(info.nodeId !== undefined && { nodeId: info.nodeId }),
    warnings: key.warnings,
  };
}
