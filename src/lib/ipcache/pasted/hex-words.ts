/** Hexadecimal digits in whatever grouping a program prints them. */

/** Brackets, quotes and commas are what remains of JSON that was copied in part. */
const SEPARATORS = /[\s,;:"'[\]]+/;

/**
 * Reads words of whole bytes: `40`, `0x40`, `\x40`, `40000000`; also `0x4`, which is one byte.
 * @returns the bytes, or what is wrong as a text.
 */
export function readHexWords(text: string): Uint8Array | string {
  const parts: string[] = [];
  for (const word of text.split(SEPARATORS)) {
    if (word === '') continue;
    const digits = word.replaceAll('\\x', '').replace(/^0[xX]/, '');
    if (!/^[0-9a-fA-F]+$/.test(digits)) return `${JSON.stringify(shorten(word))} is not hexadecimal`;
    if (digits.length === 1 && digits !== word) parts.push(`0${digits}`);
    else if (digits.length % 2 === 1) return `${JSON.stringify(shorten(word))} has an odd number of digits`;
    else parts.push(digits);
  }
  return new Uint8Array(Buffer.from(parts.join(''), 'hex'));
}

function shorten(word: string): string {
  return word.length > 40 ? `${word.slice(0, 40)}…` : word;
}
