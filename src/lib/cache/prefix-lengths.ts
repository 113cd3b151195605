/** Which prefix lengths occur among the keys of the cache, so that a lookup by address tries only those. */
import { isEndpointKey } from './cache-key.ts';

const LONGEST: Readonly<Record<'ipv4' | 'ipv6', number>> = { ipv4: 32, ipv6: 128 };

export class PrefixLengths {
  readonly #counts = { ipv4: new Uint32Array(33), ipv6: new Uint32Array(129) };

  add(key: string): void {
    this.#changeOf(key, 1);
  }

  remove(key: string): void {
    this.#changeOf(key, -1);
  }

  /** @param by how many keys of this length there are more */
  change(family: 'ipv4' | 'ipv6', length: number, by: number): void {
    const counts = this.#counts[family];
    counts[length] = (counts[length] ?? 0) + by;
  }

  /** Longest first; full length and 0 are always there. */
  list(family: 'ipv4' | 'ipv6'): number[] {
    const lengths: number[] = [];
    for (let length = LONGEST[family]; length >= 0; length--) {
      if (length === LONGEST[family] || length === 0 || this.#counts[family][length]) lengths.push(length);
    }
    return lengths;
  }

  #changeOf(key: string, by: number): void {
    const family = key.includes(':') ? 'ipv6' : 'ipv4';
    this.change(family, isEndpointKey(key) ? LONGEST[family] : lengthOf(key), by);
  }
}

/** The digits behind the slash; a cluster ID may follow. */
function lengthOf(key: string): number {
  let length = 0;
  for (let i = key.indexOf('/') + 1; i < key.length; i++) {
    const digit = key.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) break;
    length = length * 10 + digit;
  }
  return length;
}
