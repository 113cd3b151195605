/**
 * The argument of one bpf(2) call: `union bpf_attr` of linux/uapi/linux/bpf.h as 128 zeroed bytes, little endian, plus
 * the buffers it points at. An address is valid only while its buffer lives, so the attribute keeps every buffer.
 * Nothing here touches the kernel: a fake kernel reads `pointers`, the real one turns them into addresses.
 */

/** Larger than any field used here; bytes that no command sets stay zero, as the kernel demands. */
const ATTR_BYTES = 128;

export type AddressOf = (buffer: Uint8Array) => bigint;

export class BpfAttr {
  /** Little endian, as both supported architectures are. */
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  readonly #pointers = new Map<number, Uint8Array>();
  readonly #structs = new Map<number, BpfAttr>();
  #unresolved: number[] = [];
  #size = 0;
  #address: bigint | undefined;

  /** @param capacity bytes to reserve; more than 128 only for the output structs of GET_INFO. */
  constructor(capacity = ATTR_BYTES) {
    this.bytes = new Uint8Array(capacity);
    this.#view = new DataView(this.bytes.buffer);
  }

  /** Bytes to pass to the kernel: up to the end of the last field that was set. */
  get size(): number {
    return this.#size;
  }

  /** What each pointer field points at, by offset; a fake kernel reads and writes through it. */
  get pointers(): ReadonlyMap<number, Uint8Array> {
    return this.#pointers;
  }

  u32(offset: number, value: number): this {
    this.#view.setUint32(offset, value, true);
    this.#grow(offset + 4);
    return this;
  }

  u64(offset: number, value: bigint | number): this {
    this.#view.setBigUint64(offset, BigInt(value), true);
    this.#grow(offset + 8);
    return this;
  }

  /** Points the field at a buffer, or at nothing. The same buffer again costs one comparison: see hot loops in map.ts. */
  ptr(offset: number, buffer: Uint8Array | undefined): this {
    if (this.#pointers.get(offset) === buffer) {
      this.#grow(offset + 8);
      return this;
    }
    this.#structs.delete(offset);
    if (buffer === undefined) {
      this.#pointers.delete(offset);
      this.#unresolved = this.#unresolved.filter((other) => other !== offset);
      return this.u64(offset, 0);
    }
    this.#pointers.set(offset, buffer);
    if (!this.#unresolved.includes(offset)) this.#unresolved.push(offset);
    this.#grow(offset + 8);
    return this;
  }

  /** Points the field at another struct that has pointers of its own, as `bpf_prog_info` has. */
  struct(offset: number, inner: BpfAttr): this {
    this.ptr(offset, inner.bytes);
    this.#structs.set(offset, inner);
    return this;
  }

  /** A NUL-terminated path or name, as a pointer. */
  cstring(offset: number, text: string): this {
    return this.ptr(offset, new TextEncoder().encode(`${text}\0`));
  }

  /** Up to `capacity - 1` bytes of a name, stored inline; the rest stays zero. */
  inlineName(offset: number, name: string, capacity: number): this {
    const bytes = new TextEncoder().encode(name).subarray(0, capacity - 1);
    this.bytes.fill(0, offset, offset + capacity);
    this.bytes.set(bytes, offset);
    this.#grow(offset + capacity);
    return this;
  }

  getU32(offset: number): number {
    return this.#view.getUint32(offset, true);
  }

  getU64(offset: number): bigint {
    return this.#view.getBigUint64(offset, true);
  }

  /** Zeroes everything and forgets the buffers, for reuse in another call. */
  reset(): this {
    this.bytes.fill(0);
    this.#pointers.clear();
    this.#structs.clear();
    this.#unresolved = [];
    this.#size = 0;
    return this;
  }

  /** Writes the addresses of buffers set since the last call. @returns the address of the attribute itself. */
  resolve(addressOf: AddressOf): bigint {
    if (this.#unresolved.length > 0) {
      for (const offset of this.#unresolved) {
        const buffer = this.#pointers.get(offset);
        if (buffer !== undefined) this.#view.setBigUint64(offset, addressOf(buffer), true);
      }
      this.#unresolved = [];
    }
    if (this.#structs.size > 0) for (const inner of this.#structs.values()) inner.resolve(addressOf);
    this.#address ??= addressOf(this.bytes);
    return this.#address;
  }

  #grow(end: number): void {
    if (end > this.#size) this.#size = end;
  }
}
