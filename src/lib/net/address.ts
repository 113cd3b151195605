/**
 * IP addresses as bytes and as text: 4 bytes for IPv4, 16 for IPv6, network byte order, no zones.
 * Text is read as strictly as Go's net/netip does (no leading zeros, no short forms) and printed after RFC 5952.
 */

export type Family = 'ipv4' | 'ipv6';

/** Reads dotted-quad text. @returns four bytes, or undefined when the text is not an IPv4 address. */
export function parseIPv4(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(4);
  return readIPv4(text, 0, text.length, bytes, 0) ? bytes : undefined;
}

/** Reads an IPv4 or IPv6 address. @returns 4 or 16 bytes; undefined for anything else, zones included. */
export function parseAddress(text: string): Uint8Array | undefined {
  return text.includes(':') ? parseIPv6(text) : parseIPv4(text);
}

/** Reads IPv6 text, also with an embedded dotted quad. @returns 16 bytes, or undefined. */
export function parseIPv6(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(16);
  const end = text.length;
  let at = 0;
  let out = 0;
  let gap = -1;
  if (text.startsWith('::')) {
    gap = 0;
    at = 2;
    if (at === end) return bytes;
  } else if (text.startsWith(':')) return undefined;
  while (at < end) {
    if (out === 16) return undefined;
    let group = 0;
    let digits = 0;
    for (; at + digits < end; digits++) {
      const digit = hexDigit(text.charCodeAt(at + digits));
      if (digit < 0) break;
      if (digits === 4) return undefined;
      group = group * 16 + digit;
    }
    if (digits === 0) return undefined;
    const next = text.charCodeAt(at + digits);
    if (next === DOT) {
      if (out > 12 || (gap < 0 && out !== 12) || !readIPv4(text, at, end, bytes, out)) return undefined;
      out += 4;
      at = end;
      break;
    }
    bytes[out++] = group >> 8;
    bytes[out++] = group & 255;
    at += digits;
    if (at === end) break;
    if (next !== COLON) return undefined;
    at++;
    if (text.charCodeAt(at) === COLON) {
      if (gap >= 0) return undefined;
      gap = out;
      at++;
    } else if (at === end) return undefined;
  }
  if (gap < 0) return out === 16 ? bytes : undefined;
  if (out === 16) return undefined;
  bytes.copyWithin(16 - (out - gap), gap, out);
  bytes.fill(0, gap, 16 - (out - gap));
  return bytes;
}

/** The family that a byte length stands for. */
export function familyOf(bytes: Uint8Array): Family {
  return bytes.length === 4 ? 'ipv4' : 'ipv6';
}

/** Whether 16 bytes are an IPv4 address in `::ffff:0:0/96`. */
export function isMapped(bytes: Uint8Array): boolean {
  if (bytes.length !== 16 || bytes[10] !== 255 || bytes[11] !== 255) return false;
  for (let i = 0; i < 10; i++) if (bytes[i] !== 0) return false;
  return true;
}

/** Prints 4 or 16 bytes after RFC 5952; v4-mapped addresses keep their dotted tail (`::ffff:10.0.0.1`). */
export function formatAddress(bytes: Uint8Array): string {
  if (bytes.length === 4) return formatIPv4(bytes, 0);
  if (isMapped(bytes)) return `::ffff:${formatIPv4(bytes, 12)}`;
  const groups: number[] = [];
  for (let i = 0; i < 16; i += 2) groups.push(((bytes[i] ?? 0) << 8) | (bytes[i + 1] ?? 0));
  const { start, length } = longestZeroRun(groups);
  const hex = (from: number, to: number): string =>
    groups
      .slice(from, to)
      .map((group) => group.toString(16))
      .join(':');
  return length < 2 ? hex(0, 8) : `${hex(0, start)}::${hex(start + length, 8)}`;
}

const DOT = 46;
const COLON = 58;

function formatIPv4(bytes: Uint8Array, at: number): string {
  return `${bytes[at]}.${bytes[at + 1]}.${bytes[at + 2]}.${bytes[at + 3]}`;
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

function readIPv4(text: string, from: number, end: number, out: Uint8Array, at: number): boolean {
  let octet = 0;
  let digits = 0;
  let octets = 0;
  for (let i = from; i <= end; i++) {
    const code = i === end ? DOT : text.charCodeAt(i);
    if (code === DOT) {
      if (digits === 0 || octets === 4) return false;
      out[at + octets++] = octet;
      octet = 0;
      digits = 0;
    } else {
      const digit = code - 48;
      if (digit < 0 || digit > 9 || (digits > 0 && octet === 0)) return false;
      octet = octet * 10 + digit;
      if (octet > 255) return false;
      digits++;
    }
  }
  return octets === 4;
}

function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let i = 0; i < groups.length; i++) {
    let length = 0;
    while (groups[i + length] === 0) length++;
    if (length > best.length) best = { start: i, length };
    i += length;
  }
  return best;
}
