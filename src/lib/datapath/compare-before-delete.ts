/**
 * The one way in which `ipc` deletes an entry it has read before: looked at once more, then deleted. The trie cannot do both
 * in one call (LOOKUP_AND_DELETE answers 524), so a change within those microseconds is still lost.
 */
import { KeyProbe, sameBytes } from '../bpf/key-probe.ts';
import type { BpfMap } from '../bpf/map.ts';
import { isStored } from '../bpf/presence.ts';

/** `changed`: the key is there with another value, and stays. `absent`: somebody else deleted it. */
export type ComparedDelete = 'deleted' | 'changed' | 'absent';

export class Deleter {
  readonly #map: BpfMap;
  readonly #probe: KeyProbe;
  readonly #stored: Uint8Array;

  constructor(map: BpfMap) {
    this.#map = map;
    this.#probe = new KeyProbe(map);
    this.#stored = new Uint8Array(map.info.valueBytes);
  }

  /**
   * Deletes exactly this key if all bytes of its value are those expected.
   * @param key host bits do not count @throws {IncompleteError} as isStored @throws {ToolError} what the kernel answers
   */
  async delete(key: Uint8Array, expected: Uint8Array): Promise<ComparedDelete> {
    // Presence first, comparison last: nothing waits between the comparison and the delete.
    if (this.#probe.byLookup(key) !== 'present' && !(await isStored(this.#map, key))) return 'absent';
    if (!this.#map.lookup(key, this.#stored)) return 'absent';
    if (!sameBytes(this.#stored, expected)) return 'changed';
    return this.#map.delete(key) ? 'deleted' : 'absent';
  }
}
