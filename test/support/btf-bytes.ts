/** Builds BTF by hand: linux/uapi/linux/btf.h. */

export interface MemberSpec {
  readonly name: string;
  readonly type: number;
  readonly bitOffset: number;
  readonly bitSize?: number;
}

export class BtfBytes {
  #strings = '\0';
  readonly #types: number[] = [];
  #count = 0;

  /** @returns the id of the type, from 1 on */
  int(name: string, bytes: number): number {
    return this.#add(name, 1, 0, bytes, [bytes * 8]);
  }

  array(element: number, index: number, length: number): number {
    return this.#add('', 3, 0, 0, [element, index, length]);
  }

  struct(name: string, bytes: number, members: readonly MemberSpec[], kind = 4): number {
    const flag = members.some(({ bitSize }) => bitSize !== undefined) ? 0x8000_0000 : 0;
    const words = members.flatMap(({ name: member, type, bitOffset, bitSize = 0 }) => [
      this.#string(member),
      type,
      bitOffset | (bitSize << 24),
    ]);
    return this.#add(name, kind, members.length | flag, bytes, words);
  }

  union(name: string, bytes: number, members: readonly MemberSpec[]): number {
    return this.struct(name, bytes, members, 5);
  }

  typedef(name: string, type: number): number {
    return this.#add(name, 8, 0, type, []);
  }

  /** const of the type. */
  constant(type: number): number {
    return this.#add('', 10, 0, type, []);
  }

  build(): Uint8Array {
    const strings = Buffer.from(this.#strings, 'latin1');
    const types = Buffer.alloc(this.#types.length * 4);
    for (const [index, word] of this.#types.entries()) types.writeUInt32LE(word >>> 0, index * 4);
    const header = Buffer.alloc(24);
    header.writeUInt16LE(0xeb9f, 0);
    header.writeUInt8(1, 2);
    for (const [index, word] of [24, 0, types.length, types.length, strings.length].entries()) {
      header.writeUInt32LE(word, 4 + index * 4);
    }
    return Uint8Array.from(Buffer.concat([header, types, strings]));
  }

  #add(name: string, kind: number, vlenAndFlag: number, sizeOrType: number, extra: readonly number[]): number {
    this.#types.push(this.#string(name), (vlenAndFlag | (kind << 24)) >>> 0, sizeOrType, ...extra);
    return ++this.#count;
  }

  #string(text: string): number {
    if (text === '') return 0;
    const offset = this.#strings.length;
    this.#strings += `${text}\0`;
    return offset;
  }
}

/** Key and value of a 24-byte ipcache as Cilium 1.19 declares them in bpf/lib/eps.h, anonymous union and bit fields included. */
export function ipcacheBtf(): { bytes: Uint8Array; keyType: number; valueType: number } {
  const btf = new BtfBytes();
  const [u8, u16, u32] = [btf.int('unsigned char', 1), btf.int('unsigned short', 2), btf.int('unsigned int', 4)];
  const be32 = btf.typedef('__be32', u32);
  const bytes16 = btf.array(u8, u32, 16);
  const v6addr = btf.union('v6addr', 16, [{ name: 'addr', type: bytes16, bitOffset: 0 }]);
  const ip4 = btf.struct('', 16, [
    { name: 'ip4', type: be32, bitOffset: 0 },
    { name: 'pad4', type: u32, bitOffset: 32 },
  ]);
  const address = btf.union('', 16, [
    { name: '', type: ip4, bitOffset: 0 },
    { name: 'ip6', type: v6addr, bitOffset: 0 },
  ]);
  const keyType = btf.struct('ipcache_key', 24, [
    { name: 'lpm_key', type: u32, bitOffset: 0 },
    { name: 'cluster_id', type: btf.constant(u16), bitOffset: 32 },
    { name: 'pad1', type: u8, bitOffset: 48 },
    { name: 'family', type: u8, bitOffset: 56 },
    { name: '', type: address, bitOffset: 64 },
  ]);
  const value = btf.struct('remote_endpoint_info', 24, [
    { name: 'sec_identity', type: u32, bitOffset: 0 },
    { name: 'tunnel_endpoint', type: v6addr, bitOffset: 32 },
    { name: 'pad', type: u16, bitOffset: 160 },
    { name: 'key', type: u8, bitOffset: 176 },
    { name: 'flag_skip_tunnel', type: u8, bitOffset: 184, bitSize: 1 },
    { name: 'flag_has_tunnel_ep', type: u8, bitOffset: 185, bitSize: 1 },
  ]);
  const valueType = btf.typedef('remote_endpoint_info_t', value);
  return { bytes: btf.build(), keyType, valueType };
}
