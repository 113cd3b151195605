/** Flags whose text becomes a value of the domain; a bad one is a usage error that names the flag's rule. */
import * as Flags from '@oclif/core/flags';
import { UsageError } from '../errors.ts';
import { parseNumericIdentity } from '../identity/numeric-identity.ts';
import { reservedByName } from '../identity/reserved.ts';
import { parseFlag } from '../ipcache/flags.ts';
import { parseAddress } from '../net/address.ts';
import { MAX_CLUSTER_ID, type Prefix, parsePrefix } from '../net/prefix.ts';
import { parseAge, parseDuration } from './duration.ts';

/** A prefix, canonical. */
export const prefixFlag = Flags.custom<Prefix>({ parse: async (text) => parsePrefix(text), helpValue: 'PREFIX' });

/** An identity as a number or as the name of a reserved one. */
export const identityFlag = Flags.custom<number>({ parse: async (text) => readIdentity(text), helpValue: 'IDENTITY' });

/** A cluster ID. */
export const clusterFlag = Flags.custom<number>({ parse: async (text) => readClusterId(text), helpValue: 'ID' });

/** A bit of the flags byte by name or number. */
export const flagBitsFlag = Flags.custom<number>({ parse: async (text) => parseFlag(text), helpValue: 'FLAG' });

/** A tunnel endpoint, or `none`. */
export const tunnelFlag = Flags.custom<string>({ parse: async (text) => readTunnel(text), helpValue: 'ADDR' });

/** The tunnel endpoint of an entry that is written: 4 or 16 bytes, never all zero. */
export const tunnelEndpointFlag = Flags.custom<Uint8Array>({
  parse: async (text) => readTunnelEndpoint(text),
  helpValue: 'ADDR',
});

/** An encrypt key, 0 for none. */
export const encryptKeyFlag = Flags.custom<number>({ parse: async (text) => readEncryptKey(text), helpValue: 'KEY' });

/** A duration, in milliseconds. */
export const durationFlag = Flags.custom<number>({ parse: async (text) => parseDuration(text), helpValue: 'D' });

/** How old something may be, however long that is. */
export const ageFlag = Flags.custom<number>({ parse: async (text) => parseAge(text), helpValue: 'D' });

/** A whole number that is not negative. */
export const countFlag = Flags.custom<number>({ parse: async (text) => readCount(text), helpValue: 'N' });

/** Reads a number or a reserved name. @throws {UsageError} BAD_IDENTITY. */
export function readIdentity(text: string): number {
  if (/^[0-9]/.test(text)) return parseNumericIdentity(text);
  const reserved = text === 'unknown' ? 0 : reservedByName(text.replace(/^reserved:/, ''));
  if (reserved !== undefined) return reserved;
  throw new UsageError(`Cannot read identity ${JSON.stringify(text)}: neither a number nor a reserved name`, {
    code: 'BAD_IDENTITY',
    hint: 'names are host, world, remote-node, kube-apiserver, ingress …: ipc identity lists them',
  });
}

function readClusterId(text: string): number {
  const id = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (id <= MAX_CLUSTER_ID) return id;
  throw new UsageError(`Cannot read cluster ID ${JSON.stringify(text)}: not a number from 0 to ${MAX_CLUSTER_ID}`, {
    code: 'BAD_CLUSTER_ID',
  });
}

function readTunnel(text: string): string {
  if (text === 'none' || parseAddress(text) !== undefined) return text;
  throw new UsageError(`Cannot read tunnel endpoint ${JSON.stringify(text)}: not an address`, {
    code: 'BAD_ADDRESS',
    hint: 'none finds the entries without one',
  });
}

/** @throws {UsageError} BAD_ADDRESS; a zero endpoint would switch the tunnel on and send the packets nowhere. */
function readTunnelEndpoint(text: string): Uint8Array {
  const address = parseAddress(text);
  if (address?.some((byte) => byte !== 0)) return address;
  const state = address === undefined ? 'not an address' : 'it is the address of no node';
  throw new UsageError(`Cannot use tunnel endpoint ${JSON.stringify(text)}: ${state}`, {
    code: 'BAD_ADDRESS',
    hint: 'leave it out for an entry without a tunnel',
  });
}

function readEncryptKey(text: string): number {
  const key = /^[0-9]{1,3}$/.test(text) ? Number(text) : Number.NaN;
  if (key <= 0xff) return key;
  throw new UsageError(`Cannot read encrypt key ${JSON.stringify(text)}: not a number from 0 to 255`, {
    code: 'BAD_NUMBER',
  });
}

function readCount(text: string): number {
  const count = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isInteger(count)) return count;
  throw new UsageError(`Cannot read number ${JSON.stringify(text)}: not a whole number`, { code: 'BAD_NUMBER' });
}
