/**
 * Where in a file damaged JSON is damaged. Engines word this differently from version to version and often name no
 * place at all, so the bytes are scanned again, and only then: after the parser, or a schema, has already said no.
 */

/** Nesting beyond this is reported as the damage itself. */
const MAX_DEPTH = 512;

/** @returns the byte offset at which the bytes stop being one JSON document; undefined when they are one. */
export function findSyntaxError(bytes: Uint8Array): number | undefined {
  const scanner = new Scanner(bytes, undefined);
  return scanner.document() ? undefined : scanner.at;
}

/**
 * @param field a path as the schema validator prints it: `identities[3].labels`; a missing field is looked for in vain,
 * then its object is meant
 * @returns the byte offset at which the value of that field begins; 0 when no part of the path is there
 */
export function findField(bytes: Uint8Array, field: string): number {
  const scanner = new Scanner(bytes, field);
  scanner.document();
  return scanner.found;
}

class Scanner {
  at = 0;
  found = 0;
  readonly #bytes: Uint8Array;
  readonly #field: string | undefined;

  constructor(bytes: Uint8Array, field: string | undefined) {
    this.#bytes = bytes;
    this.#field = field;
  }

  document(): boolean {
    this.#space();
    if (!this.#value('', 0)) return false;
    this.#space();
    return this.at === this.#bytes.length;
  }

  #value(path: string | undefined, depth: number): boolean {
    if (path !== undefined) this.found = this.at;
    if (depth > MAX_DEPTH) return false;
    switch (this.#bytes[this.at]) {
      case 0x7b: // {
        return this.#members(0x7d, path, depth);
      case 0x5b: // [
        return this.#members(0x5d, path, depth);
      case 0x22: // "
        return this.#string() !== undefined;
      default:
        return this.#word();
    }
  }

  #members(close: number, path: string | undefined, depth: number): boolean {
    this.at++;
    this.#space();
    if (this.#take(close)) return true;
    for (let index = 0; ; index++) {
      let name: string | undefined = `[${index}]`;
      if (close === 0x7d) {
        name = this.#string();
        if (name === undefined) return false;
        this.#space();
        if (!this.#take(0x3a)) return false;
        this.#space();
      }
      if (!this.#value(this.#step(path, name), depth + 1)) return false;
      this.#space();
      if (this.#take(close)) return true;
      if (!this.#take(0x2c)) return false;
      this.#space();
    }
  }

  /** The path of a member, or undefined when it does not lead to the field that is looked for. */
  #step(path: string | undefined, name: string): string | undefined {
    if (path === undefined || this.#field === undefined) return undefined;
    const step = path === '' || name.startsWith('[') ? path + name : `${path}.${name}`;
    if (!this.#field.startsWith(step)) return undefined;
    const next = this.#field[step.length];
    return next === undefined || next === '.' || next === '[' ? step : undefined;
  }

  #string(): string | undefined {
    const from = this.at + 1;
    if (!this.#take(0x22)) return undefined;
    for (; this.at < this.#bytes.length; this.at++) {
      const byte = this.#bytes[this.at] ?? 0;
      if (byte === 0x22) return Buffer.from(this.#bytes.subarray(from, this.at++)).toString();
      if (byte < 0x20) return undefined;
      if (byte === 0x5c && !this.#escape()) return undefined;
    }
    return undefined;
  }

  #escape(): boolean {
    const kind = String.fromCharCode(this.#bytes[this.at + 1] ?? 0);
    if (kind === 'u') {
      for (let i = 2; i < 6; i++) {
        if (!/[0-9a-fA-F]/.test(String.fromCharCode(this.#bytes[this.at + i] ?? 0))) return false;
      }
      this.at += 5;
      return true;
    }
    if (!'"\\/bfnrt'.includes(kind)) return false;
    this.at++;
    return true;
  }

  /** A number or one of the three names. */
  #word(): boolean {
    const rest = Buffer.from(this.#bytes.subarray(this.at, this.at + 400)).toString('latin1');
    const word = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/.exec(rest)?.[0];
    this.at += word?.length ?? 0;
    return word !== undefined;
  }

  #take(byte: number): boolean {
    if (this.#bytes[this.at] !== byte) return false;
    this.at++;
    return true;
  }

  #space(): void {
    for (; ; this.at++) {
      const byte = this.#bytes[this.at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
    }
  }
}
