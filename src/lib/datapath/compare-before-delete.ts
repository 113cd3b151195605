/**
 * The one way in which `ipc` deletes an entry that it read before: looked at once more, then deleted. The trie cannot do
 * both in one call (LOOKUP_AND_DELETE answers 524), so what changes within those microseconds is still lost.
 */
import { sameBytes } from '../bpf/key-probe.ts';
import type { BpfMap } from '../bpf/map.ts';
import { isStored } from '../bpf/presence.ts';

/** `changed`: the key is there with another value, and stays. `absent`: it is not there any more. */
export type ComparedDelete = 'deleted' | 'changed' | 'absent';

export class Deleter {
  readonly #map: BpfMap;
  readonly #stored: Uint8Array;

  constructor(map: BpfMap) {
    this.#map = map;
    this.#stored = new Uint8Array(map.info.valueBytes);
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

  /** What there is of a key whose value was not the one expected. */
  async explain(key: Uint8Array): Promise<'changed' | 'absent'> {
    return (await isStored(this.#map, key)) ? 'changed' : 'absent';
  }
}
