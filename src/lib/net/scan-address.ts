/**
 * Reads addresses straight out of bytes of text, for files of hundreds of thousands of lines, where cutting a string
 * out of every line would cost more than the work itself. As strict as address.ts, of which it is the byte twin.
 */

const DOT = 46;
const COLON = 58;

/**
 * Reads dotted-quad text that begins at `at`.
 * @param out gets four bytes at `outAt`
 * @returns the offset behind the address, or -1
 */
export function scanIPv4(text: Uint8Array, at: number, out: Uint8Array, outAt: number): number {
  let position = at;
  for (let octets = 0; octets < 4; octets++) {
    if (octets > 0 && text[position++] !== DOT) return -1;
    const start = position;
    let octet = 0;
    for (;;) {
      const digit = (text[position] ?? 0) - 48;
      if (digit < 0 || digit > 9) break;
      if (position > start && octet === 0) return -1;
      octet = octet * 10 + digit;
      if (octet > 255) return -1;
      position++;
    }
    if (position === start) return -1;
    out[outAt + octets] = octet;
  }
  return position;
}

/**
 * Reads IPv6 text of hexadecimal groups that begins at `at`; no dotted tail, no zone.
 * @param out gets sixteen bytes at `outAt`
 * @returns the offset behind the address, or -1
 */
export function scanIPv6(text: Uint8Array, at: number, out: Uint8Array, outAt: number): number {
  let position = at;
  let filled = 0;
  let gap = -1;
  if (text[position] === COLON) {
    if (text[position + 1] !== COLON) return -1;
    gap = 0;
    position += 2;
  }
  for (;;) {
    let group = 0;
    let digits = 0;
    for (; digits < 5; digits++) {
      const digit = hexDigit(text[position + digits] ?? 0);
      if (digit < 0) break;
      group = group * 16 + digit;
    }
    if (digits === 5) return -1;
    if (digits === 0) {
      // Only right after "::" may the text end without a group.
      if (gap !== filled) return -1;
      break;
    }
    if (filled === 16) return -1;
    out[outAt + filled++] = group >> 8;
    out[outAt + filled++] = group & 255;
    position += digits;
    if (text[position] !== COLON) break;
    position++;
    if (text[position] === COLON) {
      if (gap >= 0) return -1;
      gap = filled;
      position++;
    } else if (hexDigit(text[position] ?? 0) < 0) return -1;
  }
  if (gap < 0) return filled === 16 ? position : -1;
  if (filled === 16) return -1;
  const tail = filled - gap;
  out.copyWithin(outAt + 16 - tail, outAt + gap, outAt + filled);
  out.fill(0, outAt + gap, outAt + 16 - tail);
  return position;
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
