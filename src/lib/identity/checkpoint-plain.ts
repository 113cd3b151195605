/**
 * The way almost every record of a checkpoint is written: no blanks, fields in the agent's order, plain ASCII. Such a
 * record becomes the sorted list of its labels byte by byte; everything else is left to `readRecord`, which knows all
 * the rules.
 */
import { isNumericIdentity, type NumericIdentity } from './numeric-identity.ts';

const MAX_LABELS = 64;
/** Longer lists are left to the full reader. */
export const MAX_LIST_BYTES = 16_384;

const OPEN_ID = Buffer.from('{"id":');
const OPEN_LABELS = Buffer.from(',"labels":{"');
const OPEN_KEY = Buffer.from('":{"key":"');
const OPEN_VALUE = Buffer.from('","value":"');
const OPEN_SOURCE = Buffer.from('","source":"');
const CLOSE_LABEL = Buffer.from('"}');
const NEXT_LABEL = Buffer.from(',"');
const CLOSE_RECORD = Buffer.from('}}');

/** Classes of bytes that a part of a label may consist of, so that its text form can be read back unchanged. */
const KEY = 1;
const VALUE = 2;
const SOURCE = 4;
const CLASSES = makeClasses();

interface Span {
  key: number;
  keyEnd: number;
  value: number;
  valueEnd: number;
  source: number;
  sourceEnd: number;
}

export class PlainRecordReader {
  readonly #bytes: Buffer;
  readonly #scratch = Buffer.alloc(MAX_LIST_BYTES);
  readonly #spans: Span[] = [];
  #at = 0;
  /** How many of the spans belong to the record matched last. */
  #count = 0;

  /** @param bytes may be filled anew between two calls; what lies behind the text must be a byte no record has, or the end */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Behind the record matched last. */
  get end(): number {
    return this.#at;
  }

  /** Matches the record at `at`. @returns its number; undefined when it is not a plain one, or not complete */
  match(at: number): NumericIdentity | undefined {
    this.#at = at;
    if (!this.#literal(OPEN_ID)) return undefined;
    const id = this.#number();
    if (!isNumericIdentity(id) || !this.#literal(OPEN_LABELS)) return undefined;
    this.#count = 0;
    do {
      if (this.#count === MAX_LABELS || !this.#label(this.#count)) return undefined;
      this.#count++;
    } while (this.#literal(NEXT_LABEL));
    return this.#literal(CLOSE_RECORD) && this.#sort() && this.#listBytes() <= MAX_LIST_BYTES ? id : undefined;
  }

  /** The sorted list of the labels matched last; it gives back every label as it was. */
  sortedList(): string {
    return this.#scratch.toString('latin1', 0, this.writeList(this.#scratch, 0));
  }

  /** Writes that list, which is never longer than its record. @returns behind it */
  writeList(out: Uint8Array, at: number): number {
    let end = at;
    for (let i = 0; i < this.#count; i++) {
      const span = this.#span(i);
      end = this.#copy(span.source, span.sourceEnd, out, end);
      out[end++] = 0x3a;
      end = this.#copy(span.key, span.keyEnd, out, end);
      out[end++] = 0x3d;
      end = this.#copy(span.value, span.valueEnd, out, end);
      out[end++] = 0x3b;
    }
    return end;
  }

  /** -1 for anything but a number from 1 up, written without a leading zero. */
  #number(): number {
    let value = 0;
    for (const begin = this.#at; this.#at - begin < 10; this.#at++) {
      const digit = (this.#bytes[this.#at] ?? 0) - 0x30;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
      if (value === 0) return -1;
    }
    return value === 0 ? -1 : value;
  }

  #label(index: number): boolean {
    const span = this.#span(index);
    const mapKey = this.#at;
    const mapKeyEnd = this.#part(KEY);
    if (mapKeyEnd === mapKey || !this.#literal(OPEN_KEY)) return false;
    span.key = this.#at;
    span.keyEnd = this.#part(KEY);
    if (!this.#same(mapKey, mapKeyEnd, span.key, span.keyEnd)) return false;
    span.value = span.keyEnd;
    span.valueEnd = span.keyEnd;
    if (this.#literal(OPEN_VALUE)) {
      span.value = this.#at;
      span.valueEnd = this.#part(VALUE);
    }
    if (!this.#literal(OPEN_SOURCE)) return false;
    span.source = this.#at;
    span.sourceEnd = this.#part(SOURCE);
    return span.sourceEnd > span.source && this.#literal(CLOSE_LABEL);
  }

  #span(index: number): Span {
    const span = this.#spans[index];
    if (span !== undefined) return span;
    const fresh = { key: 0, keyEnd: 0, value: 0, valueEnd: 0, source: 0, sourceEnd: 0 };
    this.#spans[index] = fresh;
    return fresh;
  }

  #literal(wanted: Buffer): boolean {
    const bytes = this.#bytes;
    const at = this.#at;
    for (let i = 0; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) return false;
    this.#at = at + wanted.length;
    return true;
  }

  /** Passes bytes of the class. @returns where they end */
  #part(allowed: number): number {
    const bytes = this.#bytes;
    let at = this.#at;
    while (((CLASSES[bytes[at] ?? 0] ?? 0) & allowed) !== 0) at++;
    this.#at = at;
    return at;
  }

  #same(from: number, to: number, other: number, otherEnd: number): boolean {
    if (to - from !== otherEnd - other) return false;
    for (let i = 0; i < to - from; i++) if (this.#bytes[from + i] !== this.#bytes[other + i]) return false;
    return true;
  }

  /** By bytes of the keys. @returns false when two of them are equal: which one stays is for the full reader */
  #sort(): boolean {
    const spans = this.#spans;
    for (let i = 1; i < this.#count; i++) {
      for (let j = i; j > 0; j--) {
        const left = this.#span(j - 1);
        const right = this.#span(j);
        const order = this.#compareKeys(left, right);
        if (order === 0) return false;
        if (order < 0) break;
        spans[j - 1] = right;
        spans[j] = left;
      }
    }
    return true;
  }

  #compareKeys(a: Span, b: Span): number {
    const length = Math.min(a.keyEnd - a.key, b.keyEnd - b.key);
    for (let i = 0; i < length; i++) {
      const difference = (this.#bytes[a.key + i] ?? 0) - (this.#bytes[b.key + i] ?? 0);
      if (difference !== 0) return difference;
    }
    return a.keyEnd - a.key - (b.keyEnd - b.key);
  }

  #listBytes(): number {
    let bytes = 0;
    for (let i = 0; i < this.#count; i++) {
      const span = this.#span(i);
      bytes += span.sourceEnd - span.source + span.keyEnd - span.key + span.valueEnd - span.value + 3;
    }
    return bytes;
  }

  #copy(from: number, to: number, out: Uint8Array, at: number): number {
    let end = at;
    for (let i = from; i < to; i++) out[end++] = this.#bytes[i] ?? 0;
    return end;
  }
}

function makeClasses(): Uint8Array {
  const classes = new Uint8Array(256);
  for (let byte = 0x20; byte < 0x7f; byte++) {
    const char = String.fromCharCode(byte);
    if ('"\\;'.includes(char)) continue;
    classes[byte] = VALUE | (char === '=' ? 0 : KEY) | (':=$'.includes(char) ? 0 : SOURCE);
  }
  return classes;
}
