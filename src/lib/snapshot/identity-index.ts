/** Where the line of each number begins: eight bytes a line instead of an object. */
import { parseObject } from './parse-line.ts';

const NEWLINE = 10;
const START = Buffer.from('{"identity":');
/** Lines that have no number sort nowhere; they are found to be damaged when they are parsed. */
const NONE = 0;

export class IdentityIndex {
  readonly size: number;
  readonly #numbers: Uint32Array;
  /** One more than there are lines: the end of the last. */
  readonly #starts: Uint32Array;

  /** @param bytes whole lines, by number */
  constructor(bytes: Buffer) {
    const starts: number[] = [];
    for (let from = 0; from < bytes.length; from = bytes.indexOf(NEWLINE, from) + 1) starts.push(from);
    this.size = starts.length;
    this.#starts = Uint32Array.from([...starts, bytes.length]);
    this.#numbers = Uint32Array.from(starts, (start) => numberAt(bytes, start));
  }

  /** The line of a number, counted from 0; −1 when there is none. */
  find(identity: number): number {
    let low = 0;
    let high = this.size - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const number = this.#numbers[middle] ?? 0;
      if (number === identity) return middle;
      if (number < identity) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  number(line: number): number {
    return this.#numbers[line] ?? NONE;
  }

  /** Offset of the first byte of a line; of the end for the line behind the last. */
  start(line: number): number {
    return this.#starts[line] ?? 0;
  }
}

function numberAt(bytes: Buffer, start: number): number {
  let at = start;
  for (const byte of START) if (bytes[at++] !== byte) return slowNumberAt(bytes, start);
  let value = 0;
  for (;;) {
    const digit = (bytes[at++] ?? 0) - 48;
    if (digit < 0 || digit > 9) return value;
    value = value * 10 + digit;
  }
}

/** Of a line that is spelled in another way than ours. */
function slowNumberAt(bytes: Buffer, start: number): number {
  const identity = parseObject(bytes.subarray(start, bytes.indexOf(NEWLINE, start)))?.identity;
  return typeof identity === 'number' ? identity : NONE;
}
