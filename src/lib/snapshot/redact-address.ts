/**
 * Replaces addresses so that two of them share exactly as many leading bits as their originals did: what covers what
 * in the longest-prefix trie stays as it was, everything else is unknowable without the key.
 * The construction is that of Xu, Fan, Ammar and Moon (Crypto-PAn, 2002): each bit is flipped by a pseudo-random
 * function of the bits before it. Here one AES-256 call gives the flips of a whole byte: 255 of its 256 output bits
 * are the nodes of the binary tree that the byte's eight bits walk down.
 */
import { type Cipher, createCipheriv } from 'node:crypto';
import { maskAddress } from '../net/prefix.ts';

export const ADDRESS_KEY_BYTES = 32;

/** A keyed, prefix-preserving replacement of IPv4 and IPv6 addresses, each family on its own. */
export class AddressRedactor {
  readonly #cipher: Cipher;
  /** Two blocks: what the flips of one byte depend on. */
  readonly #input = new Uint8Array(32);
  /** Flips of the byte at each position, and the input they were made for: sorted addresses reuse nearly all. */
  readonly #cached: { readonly input: Uint8Array; readonly flips: Uint8Array; valid: boolean }[];

  /** @param key 32 bytes, used for nothing else */
  constructor(key: Uint8Array) {
    this.#cipher = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false);
    const slots = 2 * 16;
    this.#cached = Array.from({ length: slots }, () => ({
      input: new Uint8Array(16),
      flips: new Uint8Array(32),
      valid: false,
    }));
  }

  /**
   * Replaces the network part of an address.
   * @param address 4 or 16 bytes, network order
   * @param length bits that count; those beyond it are zero in the result. Length 0 changes nothing: a default route
   * stays one.
   */
  redact(address: Uint8Array, length: number): Uint8Array {
    const out = maskAddress(address, length);
    for (let at = 0; at * 8 < length; at++) out[at] = this.#redactByte(address, at);
    return maskAddress(out, length);
  }

  /** A whole address; the unspecified one names nobody and is kept. */
  redactHost(address: Uint8Array): Uint8Array {
    return address.every((byte) => byte === 0) ? address : this.redact(address, address.length * 8);
  }

  #redactByte(address: Uint8Array, at: number): number {
    const flips = this.#flips(address, at);
    const byte = address[at] ?? 0;
    let node = 1;
    let result = 0;
    for (let bit = 7; bit >= 0; bit--) {
      const original = (byte >> bit) & 1;
      const flip = ((flips[node >> 3] ?? 0) >> (node & 7)) & 1;
      result = (result << 1) | (original ^ flip);
      node = (node << 1) | original;
    }
    return result;
  }

  #flips(address: Uint8Array, at: number): Uint8Array {
    const isIPv6 = address.length === 16;
    const slot = this.#cached[(isIPv6 ? 16 : 0) + at];
    if (slot === undefined) throw new RangeError(`no byte ${at} in an address`);
    if (slot.valid && sameStart(slot.input, address, at)) return slot.flips;
    const input = this.#input.fill(0);
    input.set(address.subarray(0, at));
    input[15] = (isIPv6 ? 0x80 : 0) | (at << 1);
    input.copyWithin(16, 0, 16);
    input[31] = (input[31] ?? 0) | 1;
    slot.flips.set(this.#cipher.update(input));
    slot.input.set(address.subarray(0, at));
    slot.valid = true;
    return slot.flips;
  }
}

function sameStart(a: Uint8Array, b: Uint8Array, length: number): boolean {
  for (let i = length - 1; i >= 0; i--) if (a[i] !== b[i]) return false;
  return true;
}
