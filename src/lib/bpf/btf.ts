/**
 * BTF, the type information of the kernel's BPF objects: linux/uapi/linux/btf.h. Read only as far as needed to tell
 * the members of a struct; the bytes come from whoever made the map, so nothing in them is trusted.
 */
import { MalformedError } from '../errors.ts';

export interface BtfMember {
  /** Members of anonymous structs and unions stand in their place, so a name is never empty but for padding. */
  readonly name: string;
  /** From the start of the outer struct, in bits: flags are bit fields. */
  readonly bitOffset: number;
  /** Bytes of the member's type. */
  readonly bytes: number;
  /** Bits of a bit field; absent for a whole member. */
  readonly bitSize?: number;
}

export interface BtfStruct {
  readonly name: string;
  readonly bytes: number;
  readonly members: readonly BtfMember[];
}

interface BtfType {
  readonly name: number;
  readonly kind: number;
  readonly vlen: number;
  /** Members of the type carry a bit field size. */
  readonly kindFlag: boolean;
  /** Size in bytes, or the id of another type: the kind tells. */
  readonly sizeOrType: number;
  /** Where the data behind the common part starts, in the whole blob. */
  readonly extra: number;
}

const MAGIC = 0xeb9f;
const HEADER_BYTES = 24;
const TYPE_BYTES = 12;
/** Longer chains of typedefs, or arrays of arrays, are no one's map; bounds loops in damaged input. */
const MAX_DEPTH = 32;
/** Of a struct and what is nested in it; bounds a struct that contains itself. */
const MAX_MEMBERS = 1024;

const KIND = { INT: 1, PTR: 2, ARRAY: 3, STRUCT: 4, UNION: 5, ENUM: 6, TYPEDEF: 8, FLOAT: 16, ENUM64: 19 } as const;
/** VOLATILE, CONST, RESTRICT, TYPEDEF and TYPE_TAG stand for another type. */
const TRANSPARENT: readonly number[] = [8, 9, 10, 11, 18];
/** Bytes behind the common 12 per type: fixed, and for each of its `vlen` parts. Kinds without a row have none. */
const EXTRA_BYTES: Readonly<Record<number, readonly [fixed: number, each: number]>> = {
  1: [4, 0], // INT
  3: [12, 0], // ARRAY
  4: [0, 12], // STRUCT
  5: [0, 12], // UNION
  6: [0, 8], // ENUM
  13: [0, 8], // FUNC_PROTO
  14: [4, 0], // VAR
  15: [0, 12], // DATASEC
  17: [4, 0], // DECL_TAG
  19: [0, 12], // ENUM64
};
const LAST_KIND = 19;

export class Btf {
  readonly #view: DataView;
  readonly #types: readonly BtfType[];
  readonly #strings: { readonly start: number; readonly end: number };

  /** @throws {MalformedError} code BTF, with the offset of what is wrong. */
  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const header = readHeader(this.#view);
    this.#strings = header.strings;
    this.#types = readTypes(this.#view, header.types);
  }

  /**
   * A struct by its id, through typedefs and qualifiers.
   * @returns undefined when the type is something else. @throws {MalformedError} code BTF
   */
  struct(id: number): BtfStruct | undefined {
    const type = this.#resolve(id);
    if (type === undefined || type.kind !== KIND.STRUCT) return undefined;
    const members: BtfMember[] = [];
    this.#collect(type, 0, { members, left: MAX_MEMBERS });
    return { name: this.#name(type.name), bytes: type.sizeOrType, members };
  }

  #collect(struct: BtfType, baseBits: number, into: { members: BtfMember[]; left: number }): void {
    for (let index = 0; index < struct.vlen; index++) {
      const at = struct.extra + index * 12;
      if (into.left-- === 0) throw malformed('a struct has too many members', at);
      const name = this.#name(this.#view.getUint32(at, true));
      const typeId = this.#view.getUint32(at + 4, true);
      const offset = this.#view.getUint32(at + 8, true);
      const bitOffset = baseBits + (struct.kindFlag ? offset & 0xff_ffff : offset);
      const bitSize = struct.kindFlag ? offset >>> 24 : 0;
      const type = this.#resolve(typeId);
      if (name === '' && (type?.kind === KIND.STRUCT || type?.kind === KIND.UNION)) {
        this.#collect(type, bitOffset, into);
        continue;
      }
      into.members.push({ name, bitOffset, bytes: this.#size(typeId, 0), ...(bitSize === 0 ? {} : { bitSize }) });
    }
  }

  /** Follows typedefs and qualifiers. @returns undefined for void. */
  #resolve(id: number): BtfType | undefined {
    let next = id;
    for (let depth = 0; depth <= MAX_DEPTH; depth++) {
      if (next === 0) return undefined;
      const type = this.#types[next - 1];
      if (type === undefined) throw malformed(`there is no type ${next}`, 0);
      if (!TRANSPARENT.includes(type.kind)) return type;
      next = type.sizeOrType;
    }
    throw malformed(`type ${id} stands for itself`, 0);
  }

  /** Bytes of a type; 0 for what has none. */
  #size(id: number, depth: number): number {
    if (depth > MAX_DEPTH) throw malformed(`type ${id} is nested too deeply`, 0);
    const type = this.#resolve(id);
    switch (type?.kind) {
      case KIND.INT:
      case KIND.STRUCT:
      case KIND.UNION:
      case KIND.ENUM:
      case KIND.FLOAT:
      case KIND.ENUM64:
        return type.sizeOrType;
      case KIND.PTR:
        return 8;
      case KIND.ARRAY: {
        const element = this.#view.getUint32(type.extra, true);
        return this.#size(element, depth + 1) * this.#view.getUint32(type.extra + 8, true);
      }
      default:
        return 0;
    }
  }

  #name(offset: number): string {
    const start = this.#strings.start + offset;
    if (start >= this.#strings.end && offset !== 0) throw malformed(`there is no string ${offset}`, start);
    let end = start;
    while (end < this.#strings.end && this.#view.getUint8(end) !== 0) end++;
    const { buffer, byteOffset } = this.#view;
    return new TextDecoder('latin1').decode(new Uint8Array(buffer, byteOffset + start, end - start));
  }
}

interface Section {
  readonly start: number;
  readonly end: number;
}

/** struct btf_header; offsets of the sections count from its end. */
function readHeader(view: DataView): { types: Section; strings: Section } {
  if (view.byteLength < HEADER_BYTES) throw malformed('shorter than its header', view.byteLength);
  if (view.getUint16(0, true) !== MAGIC) throw malformed('no BTF magic', 0);
  const version = view.getUint8(2);
  if (version !== 1) throw malformed(`version ${version} is not known`, 2);
  const headerBytes = view.getUint32(4, true);
  if (headerBytes < HEADER_BYTES) throw malformed('the header is too short', 4);
  const section = (at: number): Section => {
    const start = headerBytes + view.getUint32(at, true);
    const end = start + view.getUint32(at + 4, true);
    if (end > view.byteLength) throw malformed('a section goes beyond the end', at);
    return { start, end };
  };
  return { types: section(8), strings: section(16) };
}

/** struct btf_type and what follows each; ids count from 1, 0 is void. */
function readTypes(view: DataView, { start, end }: Section): BtfType[] {
  const types: BtfType[] = [];
  for (let at = start; at < end; ) {
    if (at + TYPE_BYTES > end) throw malformed('a type is cut off', at);
    const info = view.getUint32(at + 4, true);
    const kind = (info >>> 24) & 0x1f;
    const vlen = info & 0xffff;
    if (kind === 0 || kind > LAST_KIND) throw malformed(`type kind ${kind} is not known`, at);
    const [fixed, each] = EXTRA_BYTES[kind] ?? [0, 0];
    const extra = at + TYPE_BYTES;
    types.push({
      name: view.getUint32(at, true),
      kind,
      vlen,
      kindFlag: info >>> 31 === 1,
      sizeOrType: view.getUint32(at + 8, true),
      extra,
    });
    at = extra + fixed + each * vlen;
    if (at > end) throw malformed('a type is cut off', extra);
  }
  return types;
}

function malformed(state: string, offset: number): MalformedError {
  return new MalformedError(`Cannot read the type information of the map: ${state} (byte ${offset})`, {
    code: 'BTF',
    hint: 'name the layout with --layout; the type information is then not read',
    operands: { offset },
  });
}
