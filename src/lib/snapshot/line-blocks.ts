/** Cuts a stream of bytes into pieces of whole lines, and keeps the last line apart. */

const NEWLINE = 10;
const START_BYTES = 1 << 20;
/** Longer lines are no snapshot. */
export const LONGEST_LINE_BYTES = 1 << 24;

/** The last line of a stream, and whether a newline ended it. Empty for an empty stream. */
export interface LastLine {
  readonly bytes: Uint8Array;
  readonly ended: boolean;
}

/**
 * @yields pieces that end with a newline and are valid until the next step
 * @returns the last line
 * @throws {RangeError} for a line beyond {@link LONGEST_LINE_BYTES}
 */
export async function* lineBlocks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, LastLine> {
  let buffer: Buffer = Buffer.allocUnsafe(START_BYTES);
  let filled = 0;
  for await (const chunk of chunks) {
    if (filled + chunk.length > buffer.length) buffer = grow(buffer, filled, filled + chunk.length);
    buffer.set(chunk, filled);
    filled += chunk.length;
    const cut = startOfLastLine(buffer, filled);
    if (cut > 0) yield buffer.subarray(0, cut);
    else if (filled > LONGEST_LINE_BYTES) throw new RangeError('a line is too long');
    buffer.copyWithin(0, cut, filled);
    filled -= cut;
  }
  const ended = filled > 0 && buffer[filled - 1] === NEWLINE;
  return { bytes: buffer.subarray(0, ended ? filled - 1 : filled), ended };
}

/** Where the last line begins, be it whole or not. */
function startOfLastLine(buffer: Buffer, filled: number): number {
  const last = filled > 0 && buffer[filled - 1] === NEWLINE ? filled - 2 : filled - 1;
  return last < 0 ? 0 : buffer.lastIndexOf(NEWLINE, last) + 1;
}

function grow(buffer: Buffer, filled: number, needed: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, needed));
  buffer.copy(larger, 0, 0, filled);
  return larger;
}
