/**
 * The one way in which `ipc` deletes an entry that it read before: looked at once more, then deleted. The trie cannot do
 * both in one call (LOOKUP_AND_DELETE answers 524), so what changes within those microseconds is still lost.
 */
import { sameBytes } from '../bpf/key-probe.ts';
import type { BpfMap } from '../bpf/map.ts';
import type { BatchDone } from '../bpf/map-batch.ts';
import { isStored } from '../bpf/presence.ts';

/** `changed`: the key is there with another value, and stays. `absent`: it is not there any more. */
export type ComparedDelete = 'deleted' | 'changed' | 'absent';

/** Keys that `tryDeleteMany` takes. */
export const MOST_AT_ONCE = 16;

/** What a batch of one key would only make slower. */
const ALONE: BatchDone = { done: 0 };

export class Deleter {
  readonly #map: BpfMap;
  readonly #stored: Uint8Array;
  readonly #key: Uint8Array;
  readonly #going: Uint8Array;

  constructor(map: BpfMap) {
    this.#map = map;
    this.#stored = new Uint8Array(map.info.valueBytes);
    this.#key = new Uint8Array(map.info.keyBytes);
    this.#going = new Uint8Array(map.info.keyBytes * MOST_AT_ONCE);
  }

  /**
   * Deletes exactly this key if all bytes of its value are those expected.
   * @param key host bits do not count
   * @throws {IncompleteError} as isStored, only where the value differs @throws {ToolError} what the kernel answers
   */
  async delete(key: Uint8Array, expected: Uint8Array): Promise<ComparedDelete> {
    return this.tryDelete(key, expected) ?? (await this.explain(key));
  }

  /** As `delete`, without waiting. @returns undefined where nothing was deleted; `explain` then says why */
  tryDelete(key: Uint8Array, expected: Uint8Array): 'deleted' | 'absent' | undefined {
    // A stored key is its own longest match, so its value is what the lookup finds. An equal value of a wider entry is no
    // harm: the delete is exact, and says that there is no such key.
    if (!this.#map.lookup(key, this.#stored)) return 'absent';
    if (!sameBytes(this.#stored, expected)) return undefined;
    return this.#map.delete(key) ? 'deleted' : 'absent';
  }

  /**
   * As `tryDelete` for keys and values back to back, of which those that compare equal go with one call: a few
   * microseconds lie between a comparison and its delete, as with a single one.
   * @param count at most MOST_AT_ONCE
   * @returns one answer for each
   */
  tryDeleteMany(keys: Uint8Array, values: Uint8Array, count: number): ('deleted' | 'absent' | undefined)[] {
    const { keyBytes, valueBytes } = this.#map.info;
    const answers: ('deleted' | 'absent' | undefined)[] = [];
    const equal: number[] = [];
    for (let i = 0; i < count; i++) {
      this.#copyKey(keys, i, this.#key, 0);
      if (!this.#map.lookup(this.#key, this.#stored)) answers[i] = 'absent';
      else if (isSameAt(this.#stored, values, i * valueBytes)) this.#copyKey(keys, i, this.#going, equal.push(i) - 1);
      else answers[i] = undefined;
    }
    for (let from = 0; from < equal.length; from++) {
      const rest = equal.length - from;
      const { done, errno } = rest === 1 ? ALONE : this.#map.deleteBatch(this.#going.subarray(from * keyBytes), rest);
      for (let i = 0; i < done; i++) answers[equal[from + i] as number] = 'deleted';
      if (done === rest && errno === undefined) break;
      // It stopped at a key that is gone, or cannot delete in batches at all: that one goes by itself.
      from += done;
      this.#copyKey(this.#going, from, this.#key, 0);
      answers[equal[from] as number] = this.#map.delete(this.#key) ? 'deleted' : 'absent';
    }
    return answers;
  }

  #copyKey(from: Uint8Array, fromIndex: number, to: Uint8Array, toIndex: number): void {
    const { keyBytes } = this.#map.info;
    for (let i = 0; i < keyBytes; i++) to[toIndex * keyBytes + i] = from[fromIndex * keyBytes + i] as number;
  }

  /** What there is of a key whose value was not the one expected. */
  async explain(key: Uint8Array): Promise<'changed' | 'absent'> {
    return (await isStored(this.#map, key)) ? 'changed' : 'absent';
  }
}

function isSameAt(stored: Uint8Array, values: Uint8Array, offset: number): boolean {
  for (let i = 0; i < stored.length; i++) if (stored[i] !== values[offset + i]) return false;
  return true;
}
