/**
 * The canonical prefix: masked address, length and cluster ID. Every edge of the program (flags, files, events, state)
 * turns text into this one form, so that two spellings of a prefix can never be two prefixes.
 */
import { UsageError } from '../errors.ts';
import { type Family, familyOf, formatAddress, isMapped, parseAddress } from './address.ts';

export interface Prefix {
  readonly family: Family;
  /** 4 or 16 bytes, network order, bits beyond `length` are zero. Never changed after construction. */
  readonly address: Uint8Array;
  /** 0 … 32 or 0 … 128. */
  readonly length: number;
  /** 0 … 65535; 0 is the local cluster and is not printed. */
  readonly clusterId: number;
}

export const MAX_CLUSTER_ID = 0xffff;

/** Bits of an address of the family: 32 or 128. */
export function addressBits(family: Family): 32 | 128 {
  return family === 'ipv4' ? 32 : 128;
}

/** Builds a prefix from bytes; copies and masks them. The caller guarantees ranges. */
export function makePrefix(address: Uint8Array, length: number, clusterId = 0): Prefix {
  return { family: familyOf(address), address: maskAddress(address, length), length, clusterId };
}

/** A copy of the address with every bit beyond `length` cleared. */
export function maskAddress(address: Uint8Array, length: number): Uint8Array {
  const masked = new Uint8Array(address.length);
  const whole = length >> 3;
  for (let i = 0; i < whole && i < masked.length; i++) masked[i] = address[i] ?? 0;
  if (whole < masked.length) masked[whole] = (address[whole] ?? 0) & (0xff00 >> (length & 7));
  return masked;
}

/**
 * Reads `ADDR`, `ADDR/LEN`, `ADDR@CLUSTER` or `ADDR/LEN@CLUSTER` and makes it canonical: a bare address gets its full
 * length, host bits are masked, v4-mapped text becomes IPv4 (length − 96; below 96 refused).
 * @throws {UsageError} code BAD_PREFIX; the message says which part is wrong and the hint what was probably meant.
 */
export function parsePrefix(text: string): Prefix {
  return parsePlainIPv4(text) ?? parseCarefully(text);
}

/** `A.B.C.D` or `A.B.C.D/LEN` in one pass, because files hold hundreds of thousands. @returns undefined for all else. */
function parsePlainIPv4(text: string): Prefix | undefined {
  const address = new Uint8Array(4);
  let octets = 0;
  let number = 0;
  let digits = 0;
  let slash = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const digit = code - 48;
    if (digit >= 0 && digit <= 9) {
      if (digits > 0 && number === 0) return undefined;
      number = number * 10 + digit;
      if (number > 255) return undefined;
      digits++;
      continue;
    }
    if (digits === 0 || slash || octets === 4) return undefined;
    if (code === 47) slash = true;
    else if (code !== 46) return undefined;
    address[octets++] = number;
    if (slash !== (octets === 4)) return undefined;
    number = 0;
    digits = 0;
  }
  if (digits === 0) return undefined;
  if (!slash) {
    if (octets !== 3) return undefined;
    address[3] = number;
    return { family: 'ipv4', address, length: 32, clusterId: 0 };
  }
  if (number > 32) return undefined;
  const whole = number >> 3;
  for (let i = whole; i < 4; i++) address[i] = i === whole ? (address[i] ?? 0) & (0xff00 >> (number & 7)) : 0;
  return { family: 'ipv4', address, length: number, clusterId: 0 };
}

function parseCarefully(text: string): Prefix {
  const at = text.indexOf('@');
  const slash = text.indexOf('/');
  const addressEnd = slash >= 0 && (at < 0 || slash < at) ? slash : at < 0 ? text.length : at;
  const clusterId = at < 0 ? 0 : parseDecimal(text.slice(at + 1), MAX_CLUSTER_ID);
  if (clusterId === undefined) {
    throw bad(text, `cluster ID ${quote(text.slice(at + 1))} is not a number from 0 to ${MAX_CLUSTER_ID}`);
  }
  const addressText = text.slice(0, addressEnd);
  const address = parseAddress(addressText);
  if (address === undefined) throw explain(text, addressText);
  const bits = address.length * 8;
  const lengthText = addressEnd === slash ? text.slice(slash + 1, at < 0 ? undefined : at) : String(bits);
  const length = parseDecimal(lengthText, bits);
  if (length === undefined) throw bad(text, `length ${quote(lengthText)} is not a number from 0 to ${bits}`);
  if (!isMapped(address)) return makePrefix(address, length, clusterId);
  if (length < 96) {
    throw bad(text, 'a v4-mapped prefix shorter than /96 is neither IPv4 nor IPv6', 'write the IPv4 prefix itself');
  }
  return makePrefix(address.subarray(12), length - 96, clusterId);
}

/** Prints `ADDR/LEN`, with `@CLUSTER` when the cluster ID is not 0. */
export function formatPrefix(prefix: Prefix): string {
  const text = `${formatAddress(prefix.address)}/${prefix.length}`;
  return prefix.clusterId === 0 ? text : `${text}@${prefix.clusterId}`;
}

/** Whether `outer` covers `inner` (or equals it): same family and cluster. */
export function containsPrefix(outer: Prefix, inner: Prefix): boolean {
  if (outer.family !== inner.family || outer.clusterId !== inner.clusterId || outer.length > inner.length) return false;
  return samePrefixBits(outer.address, inner.address, outer.length);
}

/** The order of snapshots and sorted dumps: family, cluster, address, length. */
export function comparePrefixes(a: Prefix, b: Prefix): number {
  if (a.family !== b.family) return a.family === 'ipv4' ? -1 : 1;
  if (a.clusterId !== b.clusterId) return a.clusterId - b.clusterId;
  for (let i = 0; i < a.address.length; i++) {
    const difference = (a.address[i] ?? 0) - (b.address[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Whether the first `length` bits of two addresses of one family agree. */
export function samePrefixBits(a: Uint8Array, b: Uint8Array, length: number): boolean {
  const whole = length >> 3;
  for (let i = 0; i < whole; i++) if (a[i] !== b[i]) return false;
  const rest = length & 7;
  return rest === 0 || (((a[whole] ?? 0) ^ (b[whole] ?? 0)) & (0xff00 >> rest) & 0xff) === 0;
}

/** Plain decimal digits, no sign, no leading zero. @returns undefined when out of range or anything else. */
function parseDecimal(text: string, max: number): number | undefined {
  if (!/^(0|[1-9][0-9]{0,9})$/.test(text)) return undefined;
  const value = Number(text);
  return value <= max ? value : undefined;
}

function quote(text: string): string {
  return JSON.stringify(text);
}

function bad(text: string, state: string, hint?: string): UsageError {
  const options = hint === undefined ? {} : { hint };
  return new UsageError(`Cannot read prefix ${quote(text)}: ${state}`, { code: 'BAD_PREFIX', ...options });
}

function explain(text: string, addressText: string): UsageError {
  if (text === '') return bad(text, 'it is empty', 'write ADDR, ADDR/LEN or ADDR/LEN@CLUSTER');
  if (addressText.includes('%')) return bad(text, 'zones are not part of an ipcache key', 'leave out the part from %');
  const colon = /^(\d+\.\d+\.\d+\.\d+):(\d+)$/.exec(addressText);
  if (colon) {
    const meant = `${colon[1]}/${colon[2]}${text.slice(addressText.length)}`;
    return bad(text, 'a colon where a slash belongs', didYouMean(meant));
  }
  if (/(^|\.)0\d/.test(addressText)) {
    return bad(text, 'an octet has a leading zero, which some programs read as octal', 'write the octet without it');
  }
  if (/^\d+(\.\d+){0,2}$/.test(addressText)) {
    return bad(text, 'an IPv4 address has four octets', didYouMean(padOctets(text, addressText)));
  }
  return bad(text, `${quote(addressText)} is not an IPv4 or IPv6 address`);
}

/** A port or an octet beyond 255 is no prefix either: what would be refused again is not suggested. */
function didYouMean(meant: string): string | undefined {
  try {
    parsePrefix(meant);
    return `did you mean ${meant}?`;
  } catch {
    return undefined;
  }
}

function padOctets(text: string, addressText: string): string {
  const octets = addressText.split('.');
  while (octets.length < 4) octets.push('0');
  return octets.join('.') + text.slice(addressText.length);
}
