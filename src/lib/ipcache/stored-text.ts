/** The text of very many keys, fast: nearly all of them are sound, IPv4 and of the local cluster. */
import { decodeKey, keyClusterId, keyText } from './key.ts';
import { FAMILY_IPV4, type Layout } from './layout.ts';
import { soundPrefixLength } from './sound-key.ts';

const SLASH = 47;
const DOT = 46;
const ZERO = 48;
/** `255.255.255.255/32`. */
const TEXT_BYTES = 18;

const scratch = Buffer.alloc(TEXT_BYTES);

/**
 * What `keyText` gives for the key at the offset. The text is in one piece: put together of parts it would keep every part
 * alive for as long as it lives.
 */
export function storedText(layout: Layout, keys: Uint8Array, offset: number): string {
  if (keys[offset + 7] === FAMILY_IPV4 && keyClusterId(layout, keys, offset) === 0) {
    const length = soundPrefixLength(layout.key, keys, offset);
    if (length >= 0) return ipv4Text(keys, offset + 8, length);
  }
  return keyText(decodeKey(layout, keys, offset), keys, offset);
}

function ipv4Text(bytes: Uint8Array, from: number, length: number): string {
  let at = 0;
  for (let i = 0; i < 4; i++) {
    at = writeDecimal(bytes[from + i] as number, at);
    scratch[at++] = i === 3 ? SLASH : DOT;
  }
  return scratch.toString('latin1', 0, writeDecimal(length, at));
}

/** Up to 255, at the place. @returns the place after it */
function writeDecimal(value: number, at: number): number {
  let to = at;
  if (value >= 100) scratch[to++] = ZERO + Math.floor(value / 100);
  if (value >= 10) scratch[to++] = ZERO + (Math.floor(value / 10) % 10);
  scratch[to++] = ZERO + (value % 10);
  return to;
}
