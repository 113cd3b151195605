/**
 * Labels out of a large checkpoint without making objects of it: the whole file is read once, with all the rules of
 * `parseCheckpoint`, but only the place of each number is kept, 8 bytes each beside the file's own bytes.
 */
import { forEachRecord, readCheckpointBytes } from './checkpoint.ts';
import { PlainRecordReader } from './checkpoint-plain.ts';
import { readRecord } from './checkpoint-record.ts';
import { JsonCursor } from './json-cursor.ts';
import type { Labels } from './labels.ts';
import type { NumericIdentity } from './numeric-identity.ts';

export class CheckpointIndex {
  readonly #bytes: Buffer;
  readonly #plain: PlainRecordReader;
  /** Open addressing: number at 2 i, its offset plus one at 2 i + 1, which is 0 in an empty slot. */
  #slots = new Uint32Array(2 * 1024);
  #size = 0;

  private constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#plain = new PlainRecordReader(bytes);
  }

  /**
   * Reads a checkpoint file.
   * @returns undefined when there is no such file
   * @throws as `readCheckpoint`
   */
  static read(path: string): CheckpointIndex | undefined {
    const bytes = readCheckpointBytes(path);
    return bytes === undefined ? undefined : CheckpointIndex.of(bytes, path);
  }

  /** Indexes the bytes of a checkpoint. @throws {MalformedError} as `parseCheckpoint` */
  static of(bytes: Buffer, file: string): CheckpointIndex {
    const index = new CheckpointIndex(bytes);
    forEachRecord(bytes, file, (cursor, path) => {
      const { at } = cursor;
      index.#add(index.#plain.skip(cursor) ?? readRecord(cursor, path).id, at);
    });
    return index;
  }

  get size(): number {
    return this.#size;
  }

  /** In no particular order. */
  *ids(): Generator<number> {
    for (let i = 0; i < this.#slots.length; i += 2) if (this.#slots[i + 1] !== 0) yield this.#slots[i] ?? 0;
  }

  /** The labels of a number; of two records with one number those of the first, which the agent gives it to. */
  lookup(id: number): Labels | undefined {
    const offset = this.#slots[2 * this.#slotOf(id) + 1] ?? 0;
    if (offset === 0) return undefined;
    const cursor = new JsonCursor(this.#bytes, offset - 1);
    return (this.#plain.read(cursor) ?? readRecord(cursor, { field: '' })).labels;
  }

  #add(id: NumericIdentity, at: number): void {
    if (this.#size * 4 >= this.#slots.length) this.#grow();
    const slot = this.#slotOf(id);
    if (this.#slots[2 * slot + 1] !== 0) return;
    this.#slots[2 * slot] = id;
    this.#slots[2 * slot + 1] = at + 1;
    this.#size++;
  }

  #slotOf(id: number): number {
    const mask = this.#slots.length / 2 - 1;
    let slot = (Math.imul(id, 0x9e3779b1) >>> 8) & mask;
    while (this.#slots[2 * slot + 1] !== 0 && this.#slots[2 * slot] !== id) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(old.length * 2);
    for (let i = 0; i < old.length; i += 2) {
      if (old[i + 1] === 0) continue;
      const slot = this.#slotOf(old[i] ?? 0);
      this.#slots[2 * slot] = old[i] ?? 0;
      this.#slots[2 * slot + 1] = old[i + 1] ?? 0;
    }
  }
}
