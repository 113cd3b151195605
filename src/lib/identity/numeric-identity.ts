/** Security identities as the 32-bit numbers of the datapath (Cilium 1.21, pkg/identity/numericidentity.go). */
import { UsageError } from '../errors.ts';
import type { IdentityOptions } from './options.ts';

declare const brand: unique symbol;

/** An unsigned 32-bit security identity; a plain number must be checked first. */
export type NumericIdentity = number & { readonly [brand]: 'NumericIdentity' };

export type IdentityScope = 'reserved' | 'global' | 'local' | 'remote-node' | 'unknown';

export const SCOPE_GLOBAL = 0x00000000;
export const SCOPE_LOCAL = 0x01000000;
export const SCOPE_REMOTE_NODE = 0x02000000;
export const SCOPE_MASK = 0xff000000;

/** Smallest and largest index within a local scope; index 0 is never allocated. */
export const MIN_LOCAL_INDEX = 1;
export const MAX_LOCAL_INDEX = 0xffffff;

export const MIN_USER_RESERVED = 128;
/** The first number that is not reserved for anything. */
export const MIN_GLOBAL = 256;
export const MAX_IDENTITY = 0xffffffff;

/** Brands a number read from a map or computed. @throws {RangeError} when it is not an unsigned 32-bit integer */
export function numericIdentity(value: number): NumericIdentity {
  if (isNumericIdentity(value)) return value;
  throw new RangeError(`${value} is not an unsigned 32-bit number`);
}

export function isNumericIdentity(value: number): value is NumericIdentity {
  return value >>> 0 === value;
}

/** The top byte, as a number whose lower 24 bits are zero. */
export function scopeBits(id: number): number {
  return (id & SCOPE_MASK) >>> 0;
}

/** The word for the scope that `ipc` prints; `reserved` are the numbers below 256. */
export function scopeOf(id: number): IdentityScope {
  switch (scopeBits(id)) {
    case SCOPE_GLOBAL:
      return id < MIN_GLOBAL ? 'reserved' : 'global';
    case SCOPE_LOCAL:
      return 'local';
    case SCOPE_REMOTE_NODE:
      return 'remote-node';
    default:
      return 'unknown';
  }
}

/** The lower 24 bits: the index within a local scope. */
export function localIndex(id: number): number {
  return id & MAX_LOCAL_INDEX;
}

export function hasLocalScope(id: number): boolean {
  return scopeBits(id) === SCOPE_LOCAL;
}

export function hasRemoteNodeScope(id: number): boolean {
  return scopeBits(id) === SCOPE_REMOTE_NODE;
}

export function isUserReserved(id: number): boolean {
  return id >= MIN_USER_RESERVED && id < MIN_GLOBAL;
}

/** How many bits below bit 24 are the cluster ID: 8, or 9 with 511 clusters. */
export function clusterIdBits(options: Pick<IdentityOptions, 'maxConnectedClusters'>): 8 | 9 {
  return options.maxConnectedClusters === 511 ? 9 : 8;
}

/**
 * The cluster bits of a number, taken as they are: they mean a cluster only in global numbers. Of the ninth bit Cilium
 * takes what 511 clusters need, of any number.
 */
export function clusterIdOf(id: number, options: Pick<IdentityOptions, 'maxConnectedClusters'>): number {
  const bits = clusterIdBits(options);
  return (id >>> (24 - bits)) & ((1 << bits) - 1);
}

/** First and last global number of a cluster; cluster 0 starts behind the reserved ones. */
export function allocationRange(
  clusterId: number,
  options: Pick<IdentityOptions, 'maxConnectedClusters'>,
): { min: number; max: number } {
  const shift = 24 - clusterIdBits(options);
  return {
    min: clusterId === 0 ? MIN_GLOBAL : clusterId * 2 ** shift,
    max: (clusterId + 1) * 2 ** shift - 1,
  };
}

/**
 * Reads a number as Go's ParseUint with base 0 does: decimal, `0x`, `0o`, `0b`, a leading `0` for octal, and single
 * underscores between digits. No sign.
 * @throws {UsageError} code BAD_IDENTITY; the message says whether it is no number or beyond 32 bits
 */
export function parseNumericIdentity(text: string): NumericIdentity {
  const digits = parseDigits(text);
  if (digits === undefined) throw badIdentity(text, 'it is not an unsigned number');
  if (digits > BigInt(MAX_IDENTITY)) throw badIdentity(text, `it is larger than ${MAX_IDENTITY} (32 bits)`);
  return numericIdentity(Number(digits));
}

const FORMS: readonly (readonly [RegExp, string])[] = [
  [/^0[xX](_?[0-9a-fA-F])+$/, '0x'],
  [/^0[oO](_?[0-7])+$/, '0o'],
  [/^0[bB](_?[01])+$/, '0b'],
  [/^0(_?[0-7])*$/, '0'],
  [/^[1-9](_?[0-9])*$/, ''],
];

function parseDigits(text: string): bigint | undefined {
  for (const [form, prefix] of FORMS) {
    if (!form.test(text)) continue;
    const plain = text.replaceAll('_', '');
    return prefix === '0' ? BigInt(`0o${plain}`) : BigInt(plain.toLowerCase());
  }
  return undefined;
}

function badIdentity(text: string, state: string): UsageError {
  return new UsageError(`Cannot read identity ${JSON.stringify(text)}: ${state}`, { code: 'BAD_IDENTITY' });
}
