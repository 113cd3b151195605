/**
 * The fields of an event that is written plainly, found in its bytes without making objects: no white space, no escapes,
 * ASCII only, each field at most once. Whatever is written otherwise is left to a real JSON reader.
 */

/** Where a text stands, without its quotes; `from` -1 for a field that is absent. */
export interface PlainText {
  from: number;
  to: number;
}

export const ABSENT = -1;

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;
const OPEN = 123;
const CLOSE = 125;
const ZERO = 48;
/** Numbers with more digits are no identities, nor safe to add up here. */
const MOST_DIGITS = 10;

const TEXTS = ['op', 'prefix', 'hostIP', 'source', 'namespace', 'name'] as const;
const NUMBERS = ['identity', 'expectIdentity', 'encryptKey'] as const;
const POD = 'pod';

type TextName = (typeof TEXTS)[number];
type NumberName = (typeof NUMBERS)[number];
/** Fields whose values differ from line to line. */
export type ValueName = 'prefix' | 'hostIP' | 'namespace' | 'name' | 'identity' | 'encryptKey';

type FieldName = TextName | NumberName | typeof POD;

/** Names by their length, as few as possible to compare. */
const BY_LENGTH: readonly (readonly { readonly name: FieldName; readonly bytes: Uint8Array }[])[] = byLength();

export class PlainFields {
  readonly op: PlainText = { from: ABSENT, to: ABSENT };
  readonly prefix: PlainText = { from: ABSENT, to: ABSENT };
  readonly hostIP: PlainText = { from: ABSENT, to: ABSENT };
  readonly source: PlainText = { from: ABSENT, to: ABSENT };
  readonly namespace: PlainText = { from: ABSENT, to: ABSENT };
  readonly name: PlainText = { from: ABSENT, to: ABSENT };
  identity = ABSENT;
  expectIdentity = ABSENT;
  encryptKey = ABSENT;
  hasPod = false;
  /** The line. */
  from = 0;
  to = 0;
  /** Where values stand, texts without their quotes, in the order of the line. */
  spans: { readonly name: ValueName; readonly from: number; readonly to: number }[] = [];
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #end = 0;

  /** @returns false when the line is not plain; the fields mean nothing then. */
  read(bytes: Buffer, from: number, to: number): boolean {
    this.#bytes = bytes;
    this.#at = from;
    this.#end = to;
    this.from = from;
    this.to = to;
    this.spans = [];
    for (const name of TEXTS) this[name].from = ABSENT;
    for (const name of NUMBERS) this[name] = ABSENT;
    this.hasPod = false;
    return this.#object(false) && this.#at === to;
  }

  #object(inPod: boolean): boolean {
    if (!this.#take(OPEN)) return false;
    do {
      const name = this.#fieldName();
      if (name === undefined || !this.#take(COLON)) return false;
      const isOfPod = name === 'namespace' || name === 'name';
      if (isOfPod !== inPod || !this.#value(name)) return false;
    } while (this.#take(COMMA));
    return this.#take(CLOSE);
  }

  #value(name: FieldName): boolean {
    if (name === 'identity' || name === 'expectIdentity' || name === 'encryptKey') return this.#number(name);
    if (name !== POD) return this[name].from === ABSENT && this.#text(name);
    if (this.hasPod) return false;
    this.hasPod = true;
    return this.#object(true);
  }

  #fieldName(): FieldName | undefined {
    const bytes = this.#bytes;
    const from = this.#at + 1;
    if (bytes[this.#at] !== QUOTE) return undefined;
    let to = from;
    while (to < this.#end && bytes[to] !== QUOTE) to++;
    for (const { name, bytes: wanted } of BY_LENGTH[to - from] ?? []) {
      let i = 0;
      while (i < wanted.length && wanted[i] === bytes[from + i]) i++;
      if (i < wanted.length) continue;
      this.#at = to + 1;
      return name;
    }
    return undefined;
  }

  #text(name: TextName): boolean {
    const out = this[name];
    const bytes = this.#bytes;
    if (bytes[this.#at] !== QUOTE) return false;
    const from = this.#at + 1;
    for (let to = from; to < this.#end; to++) {
      const byte = bytes[to] as number;
      if (byte === QUOTE) {
        out.from = from;
        out.to = to;
        this.#at = to + 1;
        if (name !== 'op' && name !== 'source') this.spans.push({ name, from, to });
        return true;
      }
      if (byte < 0x20 || byte > 0x7e || byte === BACKSLASH) return false;
    }
    return false;
  }

  #number(name: NumberName): boolean {
    if (this[name] !== ABSENT) return false;
    const bytes = this.#bytes;
    const from = this.#at;
    let value = 0;
    let at = from;
    for (; at < this.#end; at++) {
      const digit = (bytes[at] as number) - ZERO;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
    }
    const digits = at - from;
    if (digits === 0 || digits > MOST_DIGITS || (digits > 1 && bytes[from] === ZERO)) return false;
    this[name] = value;
    this.#at = at;
    if (name !== 'expectIdentity') this.spans.push({ name, from, to: at });
    return true;
  }

  #take(byte: number): boolean {
    if (this.#at >= this.#end || this.#bytes[this.#at] !== byte) return false;
    this.#at++;
    return true;
  }
}

function byLength() {
  const rows: { readonly name: FieldName; readonly bytes: Uint8Array }[][] = [];
  for (const name of [...TEXTS, ...NUMBERS, POD] as const) {
    let row = rows[name.length];
    if (row === undefined) rows[name.length] = row = [];
    row.push({ name, bytes: new TextEncoder().encode(name) });
  }
  return rows;
}
