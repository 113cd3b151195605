/**
 * The quick look at a key in a long walk: nearly every key is a canonical prefix of a known family, and of those only the
 * length is needed. Everything else takes the road through decodeKey.
 */
import { FAMILY_IPV4, FAMILY_IPV6, type KeyLayout, STATIC_PREFIX_BITS } from './layout.ts';

/**
 * The prefix length of the address in a key for which {@link decodeKey} has no warnings.
 * @returns −1 for every other key. The caller guarantees 24 bytes at `offset`.
 */
export function soundPrefixLength(layout: KeyLayout, keys: Uint8Array, offset: number): number {
  if (keys[offset + 1] !== 0 || keys[offset + 2] !== 0 || keys[offset + 3] !== 0) return -1;
  const length = (keys[offset] as number) - STATIC_PREFIX_BITS;
  if (length < 0) return -1;
  for (let i = 0; i < layout.pad.length; i++) if (keys[offset + (layout.pad[i] as number)] !== 0) return -1;
  const family = keys[offset + 7];
  const address = offset + 8;
  if (family === FAMILY_IPV4) return length <= 32 && hostBitsClear(keys, address, length) ? length : -1;
  if (family !== FAMILY_IPV6 || length > 128 || !hostBitsClear(keys, address, length)) return -1;
  return maybeMapped(keys, address) ? -1 : length;
}

function hostBitsClear(keys: Uint8Array, address: number, length: number): boolean {
  const whole = length >> 3;
  if (whole === 16) return true;
  if (((keys[address + whole] as number) & (0xff >> (length & 7))) !== 0) return false;
  for (let i = whole + 1; i < 16; i++) if (keys[address + i] !== 0) return false;
  return true;
}

function maybeMapped(keys: Uint8Array, address: number): boolean {
  return keys[address] === 0 && keys[address + 10] === 0xff && keys[address + 11] === 0xff;
}
