/**
 * A key of the cache as five numbers, so that events pass from a source to the map without a text for each: reading text,
 * hashing it and keeping it cost more than everything else that is done with an event. Objects are filled again and again;
 * whoever wants to keep a key copies it.
 */
import { formatAddress, parseAddress } from '../net/address.ts';

const IPV6 = 0x100;
const ENDPOINT = 0x200;
const CLUSTER_SHIFT = 10;
const DOT = 46;
const SLASH = 47;
const ZERO = 48;

export class PackedKey {
  /** The address in 32-bit words, network order, signed; IPv4 has the first one only. */
  w0 = 0;
  w1 = 0;
  w2 = 0;
  w3 = 0;
  /** Length, family, whether it is an endpoint, and cluster ID; equal keys have equal words and an equal one of these. */
  meta = 0;

  /** Of the prefix that the key stands for: an endpoint has its full length. */
  get length(): number {
    return this.meta & 0xff;
  }

  get isIPv6(): boolean {
    return (this.meta & IPV6) !== 0;
  }

  get isEndpoint(): boolean {
    return (this.meta & ENDPOINT) !== 0;
  }

  /** 0 for the local cluster. */
  get clusterId(): number {
    return this.meta >>> CLUSTER_SHIFT;
  }

  /** A prefix, not an endpoint, that an endpoint would hide. */
  get isHostPrefix(): boolean {
    return !this.isEndpoint && this.length === (this.isIPv6 ? 128 : 32);
  }

  /** @param length undefined for an endpoint */
  setIPv4(address: number, length: number | undefined): void {
    this.w0 = address;
    this.w1 = 0;
    this.w2 = 0;
    this.w3 = 0;
    this.meta = length ?? 32 | ENDPOINT;
  }

  /**
   * Reads a key exactly: nothing is masked, and a v4-mapped address stays IPv6.
   * @throws {TypeError} for text that is no key
   */
  read(text: string): this {
    if (!this.tryRead(text)) throw new TypeError(`${text} is not a cache key`);
    return this;
  }

  /** As `read`. @returns false for text that is no key; what this stands for then is undefined */
  tryRead(text: string): boolean {
    return this.#readIPv4(text) || this.#readAny(text);
  }

  copy({ w0, w1, w2, w3, meta }: PackedKey): this {
    this.w0 = w0;
    this.w1 = w1;
    this.w2 = w2;
    this.w3 = w3;
    this.meta = meta;
    return this;
  }

  equals({ w0, w1, w2, w3, meta }: PackedKey): boolean {
    return this.w0 === w0 && this.meta === meta && this.w1 === w1 && this.w2 === w2 && this.w3 === w3;
  }

  /**
   * Where the key belongs in a table of hashes. Neighbouring prefixes of one length are neighbours there too, sixteen at a
   * time: addresses come in rows, and each row is then one line of memory.
   */
  home(): number {
    const { w0, w1, w2, w3, meta, length } = this;
    const last = length <= 32 ? w0 : length <= 64 ? w1 : length <= 96 ? w2 : w3;
    const number = length === 0 ? 0 : last >>> (31 - ((length - 1) & 31));
    let row = Math.imul(number >>> 4, 0x9e3779b1) ^ Math.imul(meta, 0x85ebca6b);
    if (length > 32) row ^= Math.imul(w0, 0xc2b2ae35) ^ Math.imul(w1, 0x27d4eb2f) ^ Math.imul(w2, 0x165667b1);
    row = Math.imul(row ^ (row >>> 15), 0x2c1b3c6d);
    return ((row ^ (row >>> 13)) << 4) | (number & 15);
  }

  /** From now on the prefix that the endpoint stands for; a prefix stays what it is. */
  toPrefix(): this {
    this.meta &= ~ENDPOINT;
    return this;
  }

  /** From now on the endpoint that hides the host prefix. */
  toEndpoint(): this {
    this.meta |= ENDPOINT;
    return this;
  }

  /** The key as text. */
  text(): string {
    return this.#text(this.isEndpoint ? undefined : this.length);
  }

  /** The prefix that the key stands for, as text. */
  prefixText(): string {
    return this.#text(this.length);
  }

  #text(length: number | undefined): string {
    const address = this.isIPv6 ? formatAddress(this.#bytes()) : undefined;
    if (address === undefined && this.clusterId === 0) return ipv4Text(this.w0, length);
    const cluster = this.clusterId === 0 ? '' : `@${this.clusterId}`;
    return `${address ?? ipv4Text(this.w0, undefined)}${length === undefined ? '' : `/${length}`}${cluster}`;
  }

  #bytes(): Uint8Array {
    const bytes = new Uint8Array(16);
    const view = new DataView(bytes.buffer);
    view.setInt32(0, this.w0);
    view.setInt32(4, this.w1);
    view.setInt32(8, this.w2);
    view.setInt32(12, this.w3);
    return bytes;
  }

  /** `A.B.C.D` or `A.B.C.D/LEN`, which nearly all keys are. @returns false for any other text */
  #readIPv4(text: string): boolean {
    let address = 0;
    let number = -1;
    let octets = 0;
    let isEndpoint = true;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      const digit = code - ZERO;
      if (digit >= 0 && digit <= 9) number = number < 0 ? digit : number * 10 + digit;
      else {
        if (number < 0 || number > 255 || octets === 4 || code !== (octets === 3 ? SLASH : DOT)) return false;
        address = (address << 8) | number;
        octets++;
        isEndpoint = code !== SLASH;
        number = -1;
      }
    }
    if (number < 0 || octets < 3 || number > (isEndpoint ? 255 : 32)) return false;
    if (isEndpoint) this.setIPv4((address << 8) | number, undefined);
    else this.setIPv4(address, number);
    return true;
  }

  #readAny(text: string): boolean {
    const at = text.indexOf('@');
    const end = at < 0 ? text.length : at;
    const slash = text.indexOf('/');
    const bytes = parseAddress(text.slice(0, slash < 0 ? end : slash));
    const length = slash < 0 ? undefined : Number(text.slice(slash + 1, end));
    if (bytes === undefined || !((length ?? 0) <= bytes.length * 8)) return false;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.setIPv4(view.getInt32(0), length);
    if (bytes.length === 16) {
      this.w1 = view.getInt32(4);
      this.w2 = view.getInt32(8);
      this.w3 = view.getInt32(12);
      this.meta = IPV6 | (length ?? 128 | ENDPOINT);
    }
    this.meta |= (at < 0 ? 0 : Number(text.slice(at + 1))) << CLUSTER_SHIFT;
    return true;
  }
}

const LONGEST_IPV4 = 'AAA.BBB.CCC.DDD/LL'.length;
const characters = Buffer.alloc(LONGEST_IPV4);

/** One whole string: those that are put together from parts take several times the memory, where they are kept. */
function ipv4Text(address: number, length: number | undefined): string {
  let at = writeNumber(0, address >>> 24);
  for (let shift = 16; shift >= 0; shift -= 8) {
    characters[at] = DOT;
    at = writeNumber(at + 1, (address >>> shift) & 0xff);
  }
  if (length !== undefined) {
    characters[at] = SLASH;
    at = writeNumber(at + 1, length);
  }
  return characters.toString('latin1', 0, at);
}

function writeNumber(at: number, value: number): number {
  let end = at;
  if (value >= 100) characters[end++] = ZERO + ((value / 100) | 0);
  if (value >= 10) characters[end++] = ZERO + (((value / 10) | 0) % 10);
  characters[end++] = ZERO + (value % 10);
  return end;
}
