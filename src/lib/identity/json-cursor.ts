/**
 * Reads JSON from bytes without making values of it, with the offset of whatever is wrong. Two dialects meet in one
 * checkpoint file: strict JSON inside labels (Go's encoding/json), and the laxer reader around them (json-iterator),
 * which lets control characters pass in a text after its first escape and zeros lead a negative number.
 */
import { textFromBytes } from './utf8-text.ts';

/** What is wrong, and where. The caller adds file and field. */
export class JsonFault extends Error {
  readonly offset: number;

  constructor(state: string, offset: number) {
    super(state);
    this.offset = offset;
  }
}

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_LIST = 0x5b;
export const CLOSE_LIST = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const LETTER_N = 0x6e;
/** As deep as both of Go's readers go. */
const MAX_DEPTH = 10_000;

export class JsonCursor {
  readonly bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  /** Passes blanks and looks at the next byte without taking it. @returns -1 at the end */
  peek(): number {
    const { bytes } = this;
    for (;;) {
      const byte = bytes[this.at];
      if (byte === undefined) return -1;
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x09 && byte !== 0x0d) return byte;
      this.at++;
    }
  }

  /** Takes the next byte if it is this one. */
  take(byte: number): boolean {
    if (this.peek() !== byte) return false;
    this.at++;
    return true;
  }

  /** @throws {JsonFault} when the next byte is another one */
  expect(byte: number): void {
    if (!this.take(byte)) throw this.fault(`expected ${JSON.stringify(String.fromCharCode(byte))}`);
  }

  /** Takes `null`. @throws {JsonFault} when it begins like it and is not */
  takeNull(): boolean {
    if (this.peek() !== LETTER_N) return false;
    this.#word('null');
    return true;
  }

  /** A fault at the present byte; says so when the text ends here. */
  fault(state: string): JsonFault {
    const byte = this.peek();
    if (byte < 0) return new JsonFault(`${state}, but the file ends`, this.at);
    const found =
      byte > 0x20 && byte < 0x7f ? JSON.stringify(String.fromCharCode(byte)) : `byte 0x${byte.toString(16)}`;
    return new JsonFault(`${state}, found ${found}`, this.at);
  }

  /** Passes a text. @returns whether it holds escapes; its bytes are between the quotes, which end before `at` */
  skipText(strict: boolean): boolean {
    const { bytes } = this;
    const begin = this.at;
    if (!this.take(QUOTE)) throw this.fault('expected a text');
    let escaped = false;
    for (let i = this.at; ; i++) {
      const byte = bytes[i];
      if (byte === undefined) throw new JsonFault('a text is cut off', begin);
      if (byte === QUOTE) {
        this.at = i + 1;
        return escaped;
      }
      if (byte === BACKSLASH) {
        escaped = true;
        i += this.#escapeLength(i) - 1;
      } else if (byte < 0x20 && (strict || !escaped)) {
        throw new JsonFault(`a text holds the control character 0x${byte.toString(16).padStart(2, '0')}`, i);
      }
    }
  }

  /**
   * Takes a text. Bytes that are not UTF-8 become U+FFFD in strict text, as in Go, and are kept else.
   * Half a surrogate pair written as an escape becomes U+FFFD.
   */
  text(strict: boolean): string {
    this.peek();
    const begin = this.at + 1;
    const escaped = this.skipText(strict);
    return decodeText(this.bytes.subarray(begin, this.at - 1), escaped, strict);
  }

  /** Passes one value of any kind. */
  skipValue(strict: boolean): void {
    const closers: number[] = [];
    do {
      if (this.#skipScalarOrOpen(strict, closers)) continue;
      this.#closeFinished(closers, strict);
    } while (closers.length > 0);
  }

  /** Passes a scalar or an empty list or object, or opens one that has content. @returns whether one was opened */
  #skipScalarOrOpen(strict: boolean, closers: number[]): boolean {
    const byte = this.peek();
    switch (byte) {
      case QUOTE:
        this.skipText(strict);
        return false;
      case OPEN_LIST:
      case OPEN_OBJECT: {
        this.at++;
        const closer = byte === OPEN_LIST ? CLOSE_LIST : CLOSE_OBJECT;
        if (this.take(closer)) return false;
        if (closers.length === MAX_DEPTH) throw new JsonFault('lists and objects are nested too deep', this.at);
        closers.push(closer);
        if (closer === CLOSE_OBJECT) this.#skipName(strict);
        return true;
      }
      case LETTER_N:
        this.#word('null');
        return false;
      case 0x74:
        this.#word('true');
        return false;
      case 0x66:
        this.#word('false');
        return false;
      default:
        this.#skipNumber(strict);
        return false;
    }
  }

  /** After a value: closes what ends here, or steps to the next member of what is open. */
  #closeFinished(closers: number[], strict: boolean): void {
    while (closers.length > 0) {
      const closer = closers[closers.length - 1] ?? 0;
      if (this.take(COMMA)) {
        if (closer === CLOSE_OBJECT) this.#skipName(strict);
        return;
      }
      this.expect(closer);
      closers.pop();
    }
  }

  #skipName(strict: boolean): void {
    this.skipText(strict);
    this.expect(COLON);
  }

  #skipNumber(strict: boolean): void {
    const { bytes } = this;
    const begin = this.at;
    const negative = bytes[this.at] === MINUS;
    if (negative) this.at++;
    const first = bytes[this.at];
    const digits = this.#digits();
    if (digits === 0) {
      this.at = begin;
      throw this.fault('expected a value');
    }
    if (first === ZERO && digits > 1 && (strict || !negative))
      throw new JsonFault('a number has a leading zero', begin);
    if (bytes[this.at] === DOT) {
      this.at++;
      if (this.#digits() === 0) throw new JsonFault('a number has no digit after its point', begin);
    }
    if (((bytes[this.at] ?? 0) | 0x20) !== 0x65) return;
    this.at++;
    if (bytes[this.at] === MINUS || bytes[this.at] === 0x2b) this.at++;
    if (this.#digits() === 0) throw new JsonFault('a number has no digit in its exponent', begin);
  }

  #digits(): number {
    const begin = this.at;
    for (;;) {
      const byte = this.bytes[this.at];
      if (byte === undefined || byte < ZERO || byte > 0x39) return this.at - begin;
      this.at++;
    }
  }

  #word(word: string): void {
    if (this.bytes.toString('latin1', this.at, this.at + word.length) !== word) throw this.fault(`expected ${word}`);
    this.at += word.length;
  }

  /** Bytes of the escape at `at`. */
  #escapeLength(at: number): 2 | 6 {
    const kind = this.bytes[at + 1];
    if (kind === undefined) throw new JsonFault('a text is cut off', at);
    if (kind === 0x75) {
      if (/^[0-9a-fA-F]{4}$/.test(this.bytes.toString('latin1', at + 2, at + 6))) return 6;
      throw new JsonFault('an escape lacks its four hexadecimal digits', at);
    }
    if ('"\\/bfnrt'.includes(String.fromCharCode(kind))) return 2;
    throw new JsonFault('an escape is none of those that JSON has', at);
  }
}

function decodeText(bytes: Buffer, escaped: boolean, strict: boolean): string {
  const raw = strict ? bytes.toString('utf8') : textFromBytes(bytes);
  return escaped ? resolveEscapes(raw) : raw;
}

const SIMPLE: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function resolveEscapes(raw: string): string {
  return raw.replace(/\\(?:u([0-9a-fA-F]{4})(?:\\u([dD][c-fC-F][0-9a-fA-F]{2}))?|(.))/gs, (_, first, second, simple) =>
    simple === undefined ? fromUnits(first, second) : (SIMPLE[simple] ?? simple),
  );
}

/** One unit, or a pair; units that are no pair stand for nothing and become U+FFFD. */
function fromUnits(first: string, second: string | undefined): string {
  const text = String.fromCharCode(
    ...[first, second].filter((unit) => unit !== undefined).map((unit) => Number.parseInt(unit, 16)),
  );
  return Buffer.from(text, 'utf8').toString('utf8');
}
