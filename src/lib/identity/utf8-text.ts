/**
 * Text that came as bytes and must go back as the same bytes. Labels are byte strings in Cilium (Go), so a damaged or
 * foreign file may hold bytes that are not UTF-8. Each such byte is kept as the lone surrogate U+DC00 + byte, which no
 * valid UTF-8 yields, and the order of texts is the order of their bytes, not of UTF-16 units.
 */

// With the u flag a surrogate pair is one character, so only lone ones match.
const LONE_ESCAPE = /[\udc80-\udcff]/u;

/** Reads UTF-8; bytes that are not UTF-8 become lone surrogates that `bytesFromText` turns back. */
export function textFromBytes(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString('utf8');
  if (!text.includes('\ufffd')) return text;
  let out = '';
  for (let at = 0; at < buffer.length; ) {
    const length = sequenceLength(buffer, at);
    out += length === 0 ? String.fromCharCode(0xdc00 | (buffer[at] ?? 0)) : buffer.toString('utf8', at, at + length);
    at += Math.max(length, 1);
  }
  return out;
}

/** The bytes of a text: UTF-8, with the escapes of `textFromBytes` turned back into the bytes they stand for. */
export function bytesFromText(text: string): Buffer {
  if (!hasEscapedBytes(text)) return Buffer.from(text, 'utf8');
  const parts: Buffer[] = [];
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    parts.push(code >= 0xdc80 && code <= 0xdcff ? Buffer.of(code & 0xff) : Buffer.from(char, 'utf8'));
  }
  return Buffer.concat(parts);
}

/** Whether the text holds bytes that are not UTF-8. */
export function hasEscapedBytes(text: string): boolean {
  return LONE_ESCAPE.test(text);
}

/** Orders by the bytes of the texts, as Go orders strings. @returns negative, zero or positive */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    // Below the surrogates UTF-16 and UTF-8 agree; above, only the bytes themselves tell.
    if (x < 0xd800 && y < 0xd800) return x - y;
    return Buffer.compare(bytesFromText(a), bytesFromText(b));
  }
  return a.length - b.length;
}

/** Bytes of the valid sequence at `at`; 0 when there is none (the rules of Unicode table 3-7). */
function sequenceLength(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const length =
    first >= 0xc2 && first <= 0xdf ? 2 : first >= 0xe0 && first <= 0xef ? 3 : first >= 0xf0 && first <= 0xf4 ? 4 : 0;
  if (length === 0) return 0;
  const second = bytes[at + 1] ?? 0;
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high) return 0;
  for (let i = 2; i < length; i++) if (((bytes[at + i] ?? 0) & 0xc0) !== 0x80) return 0;
  return length;
}
