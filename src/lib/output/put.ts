/**
 * Text written straight into bytes: each function writes at `at` and returns the position after what it wrote. The caller
 * has reserved the room. A dump of 500 000 entries runs through these, so none of them makes a string or an object.
 */
import { isMapped } from '../net/address.ts';

const DIGIT_0 = 48;
const DOT = 46;
const COLON = 58;
const HEX = bytesOf('0123456789abcdef');
const MAPPED = bytesOf('::ffff:');

/** For every byte its length in digits and up to three digits. */
const OCTETS = new Uint8Array(256 * 4);
for (let value = 0; value < 256; value++) {
  const digits = bytesOf(String(value));
  OCTETS[value * 4] = digits.length;
  OCTETS.set(digits, value * 4 + 1);
}

/** Longest results: of an address, of a u32, of a byte. */
export const MAX_ADDRESS_TEXT = 45;
export const MAX_U32_TEXT = 10;

/** ASCII text as bytes, for constants. */
export function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

/** Copies a short constant; a loop is faster than `set` at these sizes. */
export function putBytes(out: Uint8Array, at: number, bytes: Uint8Array): number {
  const length = bytes.length;
  for (let i = 0; i < length; i++) out[at + i] = bytes[i] as number;
  return at + length;
}

/** A byte in decimal. */
export function putOctet(out: Uint8Array, at: number, value: number): number {
  const row = value << 2;
  const digits = OCTETS[row] as number;
  out[at] = OCTETS[row + 1] as number;
  if (digits > 1) {
    out[at + 1] = OCTETS[row + 2] as number;
    if (digits > 2) out[at + 2] = OCTETS[row + 3] as number;
  }
  return at + digits;
}

/** An unsigned 32-bit number in decimal. */
export function putU32(out: Uint8Array, at: number, value: number): number {
  if (value < 256) return putOctet(out, at, value);
  const end = at + decimalDigits(value);
  let rest = value;
  for (let i = end - 1; i >= at; i--) {
    // Above 2^31 the integer division below would see a negative number.
    const quotient = rest > 0x7fffffff ? Math.floor(rest / 10) : (rest / 10) | 0;
    out[i] = DIGIT_0 + (rest - quotient * 10);
    rest = quotient;
  }
  return end;
}

/** Four bytes as a dotted quad. */
export function putIPv4(out: Uint8Array, at: number, bytes: Uint8Array, offset: number): number {
  let end = putOctet(out, at, bytes[offset] as number);
  out[end] = DOT;
  end = putOctet(out, end + 1, bytes[offset + 1] as number);
  out[end] = DOT;
  end = putOctet(out, end + 1, bytes[offset + 2] as number);
  out[end] = DOT;
  return putOctet(out, end + 1, bytes[offset + 3] as number);
}

/** Sixteen bytes after RFC 5952; v4-mapped addresses keep their dotted tail. */
export function putIPv6(out: Uint8Array, at: number, bytes: Uint8Array, offset: number): number {
  if (bytes[offset + 10] === 255 && isMapped(bytes.subarray(offset, offset + 16))) {
    return putIPv4(out, putBytes(out, at, MAPPED), bytes, offset + 12);
  }
  let runStart = -1;
  let runLength = 1;
  for (let i = 0, start = 0, length = 0; i < 8; i++) {
    if (bytes[offset + 2 * i] !== 0 || bytes[offset + 2 * i + 1] !== 0) {
      length = 0;
      continue;
    }
    if (length++ === 0) start = i;
    if (length > runLength) {
      runStart = start;
      runLength = length;
    }
  }
  let end = at;
  for (let i = 0; i < 8; ) {
    if (i === runStart) {
      out[end++] = COLON;
      out[end++] = COLON;
      i += runLength;
      continue;
    }
    if (i > 0 && (runStart < 0 || i !== runStart + runLength)) out[end++] = COLON;
    end = putGroup(out, end, ((bytes[offset + 2 * i] as number) << 8) | (bytes[offset + 2 * i + 1] as number));
    i++;
  }
  return end;
}

/** Bytes as lower-case hexadecimal digits. */
export function putHex(out: Uint8Array, at: number, bytes: Uint8Array, offset: number, length: number): number {
  let end = at;
  for (let i = offset; i < offset + length; i++) {
    const byte = bytes[i] as number;
    out[end++] = HEX[byte >> 4] as number;
    out[end++] = HEX[byte & 15] as number;
  }
  return end;
}

function putGroup(out: Uint8Array, at: number, group: number): number {
  let end = at;
  if (group > 0xfff) out[end++] = HEX[group >> 12] as number;
  if (group > 0xff) out[end++] = HEX[(group >> 8) & 15] as number;
  if (group > 0xf) out[end++] = HEX[(group >> 4) & 15] as number;
  out[end++] = HEX[group & 15] as number;
  return end;
}

function decimalDigits(value: number): number {
  if (value < 10_000) return value < 1000 ? 3 : 4;
  if (value < 1_000_000) return value < 100_000 ? 5 : 6;
  if (value < 100_000_000) return value < 10_000_000 ? 7 : 8;
  return value < 1_000_000_000 ? 9 : 10;
}
