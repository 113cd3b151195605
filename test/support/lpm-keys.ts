/** Keys for tests of the trie: from text, and arbitrary ones that lie close together. */
import fc from 'fast-check';
import { parseAddress } from '../../src/lib/net/address.ts';
import { setPrefixlen } from '../../src/lib/net/lpm-order.ts';
import { parsePrefix } from '../../src/lib/net/prefix.ts';

/** A key as Cilium since 1.15 writes it; host bits of the text are kept. */
export function ipKey(text: string): Uint8Array {
  const { length, clusterId } = parsePrefix(text);
  const address = parseAddress(text.replace(/[/@].*/, '')) ?? new Uint8Array(0);
  const key = new Uint8Array(24);
  setPrefixlen(key, 0, 32 + length);
  key[4] = clusterId & 0xff;
  key[5] = clusterId >> 8;
  key[7] = address.length === 4 ? 1 : 2;
  key.set(address, 8);
  return key;
}

/** Any key of a legal length whose data has so few values that prefixes nest, touch and repeat. */
export function arbitraryKey(): fc.Arbitrary<Uint8Array> {
  const byte = fc.constantFrom(0, 0, 1, 2, 128, 255);
  const length = fc.oneof(fc.constantFrom(0, 31, 32, 40, 63, 64, 159, 160), fc.integer({ min: 0, max: 160 }));
  return fc.tuple(length, fc.array(byte, { minLength: 20, maxLength: 20 })).map(([bits, data]) => {
    const key = new Uint8Array(24);
    setPrefixlen(key, 0, bits);
    key.set(data, 4);
    return key;
  });
}

/** A value of so many bytes that starts with the number. */
export function value(number: number, bytes = 24): Uint8Array {
  const made = new Uint8Array(bytes);
  new DataView(made.buffer).setUint32(0, number, true);
  return made;
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
