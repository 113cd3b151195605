/**
 * The shape of an upsert's line: what stands between its values. A source writes its lines alike, so the next line is the
 * same bytes but for the values, and is read in one pass without looking for names. What differs is left to others.
 */
import { parseCacheKey } from '../cache/cache-key.ts';
import { UsageError } from '../errors.ts';
import { MAX_IDENTITY } from '../identity/numeric-identity.ts';
import { asciiText } from './byte-texts.ts';
import { Literal } from './literal.ts';
import { ABSENT, type PlainFields, type ValueName } from './plain-fields.ts';
import type { PlainTexts } from './plain-texts.ts';
import type { PlainUpsert } from './plain-upsert.ts';

/** Past the end of a text or a number; FAILED for a line of another shape. */
type Offset = number;
const FAILED = -1;

const NEWLINE = 10;
const QUOTE = 34;
const DOT = 46;
const SLASH = 47;
const ZERO = 48;
const AT = 64;
const BACKSLASH = 92;
/** Numbers with more digits are no identities. */
const MOST_DIGITS = 10;
const LONGEST_KEY = 64;
const MAX_ENCRYPT_KEY = 0xff;

const PREFIX = 0;
const IDENTITY = 1;
const HOST = 2;
const ENCRYPT_KEY = 3;
const NAMESPACE = 4;
const NAME = 5;
const KINDS: Readonly<Record<ValueName, number>> = {
  prefix: PREFIX,
  identity: IDENTITY,
  hostIP: HOST,
  encryptKey: ENCRYPT_KEY,
  namespace: NAMESPACE,
  name: NAME,
};

export class LineShape {
  /** The kind of each value in turn, what stands before it, and what stands behind the last one. */
  readonly #kinds: readonly number[];
  readonly #before: readonly Literal[];
  readonly #end: Literal;
  readonly #source: string;
  readonly #hasPod: boolean;
  readonly #texts: PlainTexts;

  /**
   * @param bytes hold a line that is a plain upsert, as `fields` has read it
   * @param source what the line says or leaves out
   */
  constructor(bytes: Uint8Array, fields: PlainFields, source: string, texts: PlainTexts) {
    const { from, to, spans, hasPod } = fields;
    const starts = [from, ...spans.map((span) => span.to)];
    this.#kinds = spans.map(({ name }) => KINDS[name]);
    this.#before = spans.map((span, i) => new Literal(bytes.subarray(starts[i], span.from)));
    this.#end = new Literal(Uint8Array.of(...bytes.subarray(starts.at(-1), to), NEWLINE));
    this.#source = source;
    this.#hasPod = hasPod;
    this.#texts = texts;
  }

  /**
   * Reads a line of this shape that begins at `from`.
   * @param view of the same bytes
   * @returns where its newline is, or FAILED
   */
  read(bytes: Uint8Array, view: DataView, from: number, upsert: PlainUpsert): Offset {
    const kinds = this.#kinds;
    upsert.source = this.#source;
    upsert.hostIP = undefined;
    upsert.encryptKey = undefined;
    upsert.pod = this.#hasPod ? { namespace: '', name: '' } : undefined;
    let at = from;
    for (let i = 0; i < kinds.length; i++) {
      const literal = this.#before[i] as Literal;
      if (!literal.isAt(view, at)) return FAILED;
      at = this.#value(kinds[i] as number, bytes, at + literal.length, upsert);
      if (at < 0) return FAILED;
    }
    return this.#end.isAt(view, at) ? at + this.#end.length - 1 : FAILED;
  }

  #value(kind: number, bytes: Uint8Array, from: number, upsert: PlainUpsert): Offset {
    if (kind === PREFIX) {
      const end = ipv4Prefix(bytes, from, upsert);
      return end === FAILED ? anyPrefix(bytes, from, upsert) : end;
    }
    if (kind === IDENTITY) return identity(bytes, from, upsert);
    if (kind === ENCRYPT_KEY) return encryptKey(bytes, from, upsert);
    const end = textEnd(bytes, from);
    if (end < 0) return FAILED;
    if (kind === HOST) {
      if (end === from) return end;
      upsert.hostIP = this.#texts.hosts.get(bytes, from, end);
      return upsert.hostIP === undefined ? FAILED : end;
    }
    const { namespace = '', name = '' } = upsert.pod ?? {};
    upsert.pod =
      kind === NAMESPACE
        ? { namespace: this.#texts.namespaces.get(bytes, from, end), name }
        : { namespace, name: asciiText(bytes, from, end) };
    return end;
  }
}

function identity(bytes: Uint8Array, from: number, upsert: PlainUpsert): Offset {
  let value = 0;
  let at = from;
  for (; ; at++) {
    const digit = (bytes[at] as number) - ZERO;
    if (!(digit >= 0 && digit <= 9)) break;
    value = value * 10 + digit;
  }
  upsert.identity = value;
  return isNumber(bytes, from, at) && value <= MAX_IDENTITY ? at : FAILED;
}

function encryptKey(bytes: Uint8Array, from: number, upsert: PlainUpsert): Offset {
  let value = 0;
  let at = from;
  for (; ; at++) {
    const digit = (bytes[at] as number) - ZERO;
    if (!(digit >= 0 && digit <= 9)) break;
    value = value * 10 + digit;
  }
  upsert.encryptKey = value;
  return isNumber(bytes, from, at) && value <= MAX_ENCRYPT_KEY ? at : FAILED;
}

/** Whether the digits between two offsets are a number as JSON writes it. */
function isNumber(bytes: Uint8Array, from: number, to: number): boolean {
  const digits = to - from;
  return digits > 0 && digits <= MOST_DIGITS && (digits === 1 || bytes[from] !== ZERO);
}

/** Reads `A.B.C.D` or `A.B.C.D/LEN` up to its quote; host bits are masked. */
function ipv4Prefix(bytes: Uint8Array, from: number, { key }: PlainUpsert): Offset {
  let address = 0;
  let at = from;
  for (let octets = 0; ; octets++) {
    const first = at;
    let number = 0;
    for (; at < first + 4; at++) {
      const digit = (bytes[at] as number) - ZERO;
      if (!(digit >= 0 && digit <= 9)) break;
      number = number * 10 + digit;
    }
    const digits = at - first;
    if (digits === 0 || digits > 3 || number > 255 || (digits > 1 && bytes[first] === ZERO)) return FAILED;
    const byte = bytes[at];
    if (octets === 4) {
      if (byte !== QUOTE || number > 32) return FAILED;
      key.setIPv4(number === 0 ? 0 : address & (-1 << (32 - number)), number);
      return at;
    }
    address = (address << 8) | number;
    if (octets === 3 && byte === QUOTE) {
      key.setIPv4(address, undefined);
      return at;
    }
    if (byte !== (octets === 3 ? SLASH : DOT)) return FAILED;
    at++;
  }
}

/** Prefixes of other clusters have rules of their own. */
function anyPrefix(bytes: Uint8Array, from: number, { key }: PlainUpsert): Offset {
  const end = textEnd(bytes, from);
  if (end < 0 || end - from > LONGEST_KEY) return FAILED;
  for (let i = from; i < end; i++) if (bytes[i] === AT) return FAILED;
  try {
    key.read(parseCacheKey(asciiText(bytes, from, end)));
    return end;
  } catch (error) {
    if (error instanceof UsageError) return FAILED;
    throw error;
  }
}

/** Where a text of printable ASCII without escapes ends: at its quote. */
function textEnd(bytes: Uint8Array, from: number): Offset {
  for (let at = from; ; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === undefined || byte < 0x20 || byte > 0x7e || byte === BACKSLASH) return FAILED;
  }
}

/** Whether the fields that were read are an upsert's and no other's. */
export function isPlainUpsert({ identity, expectIdentity, encryptKey }: PlainFields): boolean {
  return identity !== ABSENT && identity <= MAX_IDENTITY && expectIdentity === ABSENT && encryptKey <= MAX_ENCRYPT_KEY;
}
