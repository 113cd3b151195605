/**
 * Addresses and prefixes exactly as Go's net/netip (1.26) has them, for texts that Cilium itself wrote or will compare:
 * zones are kept, v4-mapped stays IPv6, host bits stay, and a prefix may be invalid. Everything a user types goes
 * through prefix.ts instead.
 */
import { MalformedError } from '../errors.ts';
import { formatAddress, parseIPv4, parseIPv6 } from './address.ts';
import { maskAddress } from './prefix.ts';

export interface NetipAddr {
  /** 0 bytes (the zero Addr), 4 or 16. */
  readonly bytes: Uint8Array;
  /** IPv6 only, without the percent sign; empty for none. */
  readonly zone: string;
}

export interface NetipPrefix {
  readonly addr: NetipAddr;
  /** -1 for an invalid prefix. */
  readonly bits: number;
}

export const ZERO_ADDR: NetipAddr = { bytes: new Uint8Array(0), zone: '' };

/** @throws {MalformedError} code BAD_ADDRESS. */
export function parseNetipAddr(text: string): NetipAddr {
  const separator = /[.:%]/.exec(text)?.[0];
  const percent = separator === ':' ? text.indexOf('%') : -1;
  const zone = percent < 0 ? '' : text.slice(percent + 1);
  const bytes = separator === ':' ? parseIPv6(percent < 0 ? text : text.slice(0, percent)) : parseIPv4(text);
  if (bytes === undefined || (percent >= 0 && zone === '')) {
    throw new MalformedError(`Cannot read address ${JSON.stringify(text)}: it is not an IP address`, {
      code: 'BAD_ADDRESS',
    });
  }
  return { bytes, zone };
}

/** Reads `ADDR/LEN`; the length is mandatory, a zone is not allowed. @throws {MalformedError} code BAD_PREFIX. */
export function parseNetipPrefix(text: string): NetipPrefix {
  const slash = text.lastIndexOf('/');
  if (slash < 0) throw badPrefix(text, 'it has no slash');
  let addr: NetipAddr;
  try {
    addr = parseNetipAddr(text.slice(0, slash));
  } catch (cause) {
    throw badPrefix(text, 'the part before the slash is not an IP address', cause);
  }
  if (addr.zone !== '') throw badPrefix(text, 'a zone is not allowed here');
  const length = text.slice(slash + 1);
  if (!/^(\d|[1-9]\d+)$/.test(length) || Number(length) > bitLength(addr)) {
    throw badPrefix(text, `length ${JSON.stringify(length)} is not a number from 0 to ${bitLength(addr)}`);
  }
  return { addr, bits: Number(length) };
}

/** Drops the zone; a length outside the address makes the prefix invalid. */
export function netipPrefixFrom(addr: NetipAddr, bits: number): NetipPrefix {
  const valid = bits >= 0 && addr.bytes.length > 0 && bits <= bitLength(addr);
  return { addr: { bytes: addr.bytes, zone: '' }, bits: valid ? bits : -1 };
}

export function formatNetipAddr(addr: NetipAddr): string {
  if (addr.bytes.length === 0) return 'invalid IP';
  return formatAddress(addr.bytes) + (addr.zone === '' ? '' : `%${addr.zone}`);
}

export function formatNetipPrefix(prefix: NetipPrefix): string {
  return prefix.bits < 0 ? 'invalid Prefix' : `${formatNetipAddr(prefix.addr)}/${prefix.bits}`;
}

/** The prefix without its host bits; an invalid one stays as it is. */
export function maskNetipPrefix(prefix: NetipPrefix): NetipPrefix {
  if (prefix.bits < 0) return prefix;
  return { addr: { bytes: maskAddress(prefix.addr.bytes, prefix.bits), zone: '' }, bits: prefix.bits };
}

/** 0, 32 or 128. */
export function bitLength(addr: NetipAddr): number {
  return addr.bytes.length * 8;
}

/** Shorter kinds of address first, then by value, then by zone. @returns -1, 0 or 1. */
export function compareNetipAddrs(a: NetipAddr, b: NetipAddr): number {
  if (a.bytes.length !== b.bytes.length) return a.bytes.length < b.bytes.length ? -1 : 1;
  const byValue = Buffer.compare(a.bytes, b.bytes);
  if (byValue !== 0) return byValue;
  return Buffer.compare(Buffer.from(a.zone), Buffer.from(b.zone));
}

function badPrefix(text: string, state: string, cause?: unknown): MalformedError {
  return new MalformedError(`Cannot read prefix ${JSON.stringify(text)}: ${state}`, { code: 'BAD_PREFIX', cause });
}
