/** Finds an entry of a table by its key, 8 bytes an entry beside the table's own. */
import type { EntryTable } from '../ipcache/entry-table.ts';
import { decodeKey, encodeKey } from '../ipcache/key.ts';
import { KEY_BYTES, type Layout } from '../ipcache/layout.ts';
import { soundPrefixLength } from '../ipcache/sound-key.ts';

export class KeyIndex {
  readonly #table: EntryTable;
  readonly #mask: number;
  /** Open addressing: row + 1, 0 for none. */
  readonly #slots: Uint32Array;
  readonly #scratch = new Uint8Array(KEY_BYTES);

  /** @param table is not changed afterwards */
  constructor(table: EntryTable, layout: Layout) {
    this.#table = table;
    const size = 2 ** Math.ceil(Math.log2(Math.max(16, table.count * 2)));
    this.#mask = size - 1;
    this.#slots = new Uint32Array(size);
    const { keys } = table;
    for (let row = 0; row < table.count; row++) {
      canonicalize(layout, keys, row * KEY_BYTES, this.#scratch);
      // The index is of canonical keys: which host bits an entry has does not make it another one.
      keys.set(this.#scratch, row * KEY_BYTES);
      this.#slots[this.#slotOf(keys, row * KEY_BYTES)] = row + 1;
    }
  }

  /** @param keys with a canonical key at the offset. @returns the row, -1 for none */
  find(keys: Uint8Array, key = 0): number {
    return (this.#slots[this.#slotOf(keys, key)] as number) - 1;
  }

  #slotOf(keys: Uint8Array, key: number): number {
    let slot = hashOf(keys, key) & this.#mask;
    for (let row = this.#slots[slot] as number; row !== 0; row = this.#slots[slot] as number) {
      if (sameKey(this.#table.keys, (row - 1) * KEY_BYTES, keys, key)) return slot;
      slot = (slot + 1) & this.#mask;
    }
    return slot;
  }
}

/** Writes the key with its host bits cleared; keys that are no prefix as they are. */
function canonicalize(layout: Layout, keys: Uint8Array, key: number, out: Uint8Array<ArrayBuffer>): void {
  if (soundPrefixLength(layout.key, keys, key) < 0) {
    const { prefix } = decodeKey(layout, keys, key);
    if (prefix !== undefined) {
      encodeKey(layout, prefix, out);
      return;
    }
  }
  for (let i = 0; i < KEY_BYTES; i++) out[i] = keys[key + i] as number;
}

function hashOf(keys: Uint8Array, key: number): number {
  let hash = 0;
  for (let i = 0; i < KEY_BYTES; i++) hash = Math.imul(hash ^ (keys[key + i] as number), 0x01000193) + 0x9e3779b9;
  return (hash ^ (hash >>> 15)) >>> 0;
}

function sameKey(a: Uint8Array, at: number, b: Uint8Array, bt: number): boolean {
  for (let i = 0; i < KEY_BYTES; i++) if (a[at + i] !== b[bt + i]) return false;
  return true;
}
