/**
 * An entry of one layout as an entry of another: what the older ones do not have is zero, what the newer ones infer is
 * set (`hastunnel`, `ipv6tunnel`), and what has no place in the target makes the entry not fit.
 */
import { LayoutError } from '../errors.ts';
import { decodeKey, encodeKey } from '../ipcache/key.ts';
import { FLAG, KEY_BYTES, type Layout } from '../ipcache/layout.ts';
import { decodeValue, encodeValue, hasTunnelBytes, newRemoteEndpointInfo } from '../ipcache/remote-endpoint-info.ts';

export interface Converted {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** Flags that say what older layouts tell from the tunnel bytes, or did not know at all. */
const INFERRED = FLAG.hastunnel | FLAG.ipv6tunnel;

/** Converts entries from one layout to another, one at a time into buffers of its own. */
export class EntryConverter {
  readonly #from: Layout;
  readonly #to: Layout;
  readonly #same: boolean;
  readonly #key = new Uint8Array(KEY_BYTES);

  constructor(from: Layout, to: Layout) {
    this.#from = from;
    this.#to = to;
    this.#same = JSON.stringify([from.key, from.value]) === JSON.stringify([to.key, to.value]);
  }

  /** Entries go over byte for byte. */
  get isIdentity(): boolean {
    return this.#same;
  }

  /**
   * @returns the bytes, the key valid until the next call
   * @throws {LayoutError} when the entry does not fit
   */
  convert(keys: Uint8Array, key: number, values: Uint8Array, value: number): Converted {
    const from = this.#from;
    const to = this.#to;
    if (this.#same) {
      return {
        key: keys.subarray(key, key + KEY_BYTES),
        value: values.subarray(value, value + from.value.bytes),
      };
    }
    const { prefix } = decodeKey(from, keys, key);
    if (prefix === undefined) throw new LayoutError('Cannot convert a key: it is no prefix');
    const info = decodeValue(from, values, value);
    const hasTunnel = hasTunnelBytes(info);
    const isIPv6 = (info.flags & FLAG.ipv6tunnel) !== 0;
    const tunnel = hasTunnel ? (isIPv6 ? info.tunnelBytes : info.tunnelBytes?.subarray(0, 4)) : undefined;
    const known = to.value.flags === undefined ? info.flags & FLAG.skiptunnel : info.flags & ~INFERRED;
    const flags = to.value.flags === undefined ? known : known & (to.value.knownFlags | ~0x0f);
    const made = newRemoteEndpointInfo(to, {
      identity: info.identity,
      encryptKey: info.encryptKey,
      flags,
      ...(tunnel && { tunnel }),
    });
    return { key: encodeKey(to, prefix, this.#key), value: encodeValue(to, made) };
  }
}
