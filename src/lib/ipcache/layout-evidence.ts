/**
 * What the bytes of a 12-byte map say about who wrote them. Four versions share that size and differ in what they leave
 * zero, so the whole map has to be seen; this counts while somebody else walks.
 */
import { FAMILY_IPV4, FAMILY_IPV6, KEY_BYTES } from './layout.ts';

const VALUE_BYTES = 12;

/** In how many entries each telling byte was not zero. */
export interface EvidenceCounts {
  readonly entries: number;
  readonly value8: number;
  readonly value9: number;
  readonly value10: number;
  readonly value11: number;
  /** Offset 4 or 5 of a key that some lookup can ask for. */
  readonly key4: number;
  /** Offset 6, likewise. */
  readonly key6: number;
}

export class LayoutEvidence {
  #entries = 0;
  readonly #value: [number, number, number, number] = [0, 0, 0, 0];
  #key4 = 0;
  #key6 = 0;

  /** Looks at entries `from` to `to` of a batch of 24-byte keys and 12-byte values that lie back to back. */
  observe(keys: Uint8Array, values: Uint8Array, to: number, from = 0): void {
    this.#entries += to - from;
    for (let entry = from; entry < to; entry++) {
      const v = entry * VALUE_BYTES + 8;
      if (values[v] !== 0 || values[v + 1] !== 0 || values[v + 2] !== 0 || values[v + 3] !== 0) {
        for (let i = 0; i < 4; i++) if (values[v + i] !== 0) this.#value[i as 0 | 1 | 2 | 3]++;
      }
      const k = entry * KEY_BYTES;
      if (keys[k + 4] !== 0 || keys[k + 5] !== 0 || keys[k + 6] !== 0) this.#observeKey(keys, k);
    }
  }

  get counts(): EvidenceCounts {
    const [value8, value9, value10, value11] = this.#value;
    return { entries: this.#entries, value8, value9, value10, value11, key4: this.#key4, key6: this.#key6 };
  }

  /** A key that is dead whatever the layout is says nothing about the cluster ID's place. */
  #observeKey(keys: Uint8Array, offset: number): void {
    const longest = keys[offset + 7] === FAMILY_IPV4 ? 64 : keys[offset + 7] === FAMILY_IPV6 ? 160 : 0;
    const prefixlen = keys[offset] ?? 0;
    const huge = keys[offset + 1] !== 0 || keys[offset + 2] !== 0 || keys[offset + 3] !== 0;
    if (huge || prefixlen < 32 || prefixlen > longest) return;
    if (keys[offset + 4] !== 0 || keys[offset + 5] !== 0) this.#key4++;
    if (keys[offset + 6] !== 0) this.#key6++;
  }
}
