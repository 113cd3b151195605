/**
 * Entries that differ, as records of a fixed size: after an encryption key was replaced everywhere half a million of them
 * are held at once, and as objects they would need more memory than both snapshots.
 */
import type { Family } from '../net/address.ts';
import { compareRows, EntryRow, RANK, SORT_KEY_BYTES } from '../snapshot/entry-row.ts';
import { TunnelTable } from './tunnel-table.ts';

/** One side of a change. */
export interface EntrySide {
  readonly identity: number;
  /** As text; absent where there is none. */
  readonly tunnelEndpoint?: string;
  readonly encryptKey: number;
  /** The whole byte. */
  readonly flags: number;
}

/** What became of one entry. At least one side is there. */
export interface ChangeValues {
  readonly family: Family;
  readonly before?: EntrySide;
  readonly after?: EntrySide;
}

export interface Change extends ChangeValues {
  /** `ADDR/LEN[@CLUSTER]`, or `0x…` for a key that is no prefix. */
  readonly prefix: string;
}

const RECORDS = 8192;
const BEFORE = 1;
const AFTER = 2;

/** Columns of up to RECORDS records; of paired ones the first is of before, the second of after. */
class Chunk {
  readonly keys = new Uint8Array(RECORDS * SORT_KEY_BYTES);
  readonly sides = new Uint8Array(RECORDS);
  readonly identities = new Uint32Array(RECORDS * 2);
  readonly tunnels = new Uint32Array(RECORDS * 2);
  readonly encryptKeys = new Uint8Array(RECORDS * 2);
  readonly flags = new Uint8Array(RECORDS * 2);
}

export class ChangeTable {
  readonly #chunks: Chunk[] = [];
  readonly #rawKeys = new Map<number, string>();
  readonly #tunnels = new TunnelTable();
  readonly #row = new EntryRow();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Rows are copied. At least one must be there; of one prefix where both are. Changes come in the order of a snapshot. */
  push(before: EntryRow | undefined, after: EntryRow | undefined): void {
    const row = before ?? after;
    if (row === undefined) return;
    const at = this.#size % RECORDS;
    if (at === 0) this.#chunks.push(new Chunk());
    const chunk = this.#chunkOf(this.#size);
    chunk.keys.set(row.sortKey, at * SORT_KEY_BYTES);
    if (row.rawKey !== '') this.#rawKeys.set(this.#size, row.rawKey);
    chunk.sides[at] = (before === undefined ? 0 : BEFORE) | (after === undefined ? 0 : AFTER);
    if (before !== undefined) this.#putSide(chunk, at * 2, before);
    if (after !== undefined) this.#putSide(chunk, at * 2 + 1, after);
    this.#size++;
  }

  /** The change at an index, made new. */
  at(index: number): Change {
    this.readKey(index, this.#row);
    return { prefix: this.#row.prefixText(), ...this.valuesAt(index) };
  }

  /** As `at`, without making text of the prefix: for who looks at all of them. */
  valuesAt(index: number): ChangeValues {
    const chunk = this.#chunkOf(index);
    const at = index % RECORDS;
    const sides = chunk.sides[at] ?? 0;
    const family = chunk.keys[at * SORT_KEY_BYTES] === RANK.ipv6 ? 'ipv6' : 'ipv4';
    // Written out, as this is done half a million times: spreading objects would take longer than all the rest.
    if (sides === BEFORE) return { family, before: this.#side(chunk, at * 2) };
    if (sides === AFTER) return { family, after: this.#side(chunk, at * 2 + 1) };
    return { family, before: this.#side(chunk, at * 2), after: this.#side(chunk, at * 2 + 1) };
  }

  /** Only the changes that another comparison of the same inputs found with the same values on both sides. */
  inCommonWith(other: ChangeTable): ChangeTable {
    const common = new ChangeTable();
    const rows = [new EntryRow(), new EntryRow(), new EntryRow(), new EntryRow()] as const;
    const [before, after, otherBefore, otherAfter] = rows;
    for (let i = 0, j = 0; i < this.#size && j < other.size; ) {
      const sides = this.#load(i, before, after);
      const otherSides = other.#load(j, otherBefore, otherAfter);
      const order = compareRows(before, otherBefore);
      if (order <= 0) i++;
      if (order >= 0) j++;
      if (order !== 0 || sides !== otherSides || !before.sameValue(otherBefore) || !after.sameValue(otherAfter))
        continue;
      common.push((sides & BEFORE) === 0 ? undefined : before, (sides & AFTER) === 0 ? undefined : after);
    }
    return common;
  }

  #chunkOf(index: number): Chunk {
    const chunk = this.#chunks[Math.floor(index / RECORDS)];
    if (chunk === undefined) throw new RangeError(`no change ${index}`);
    return chunk;
  }

  /** Fills both rows, also that of a side that is not there: then with a value that is all zero. @returns the sides */
  #load(index: number, before: EntryRow, after: EntryRow): number {
    const chunk = this.#chunkOf(index);
    const at = index % RECORDS;
    this.readKey(index, before);
    this.readKey(index, after);
    this.#readSide(chunk, at * 2, before);
    this.#readSide(chunk, at * 2 + 1, after);
    return chunk.sides[at] ?? 0;
  }

  /** Fills the place of the row only: its key. */
  readKey(index: number, row: EntryRow): void {
    const at = (index % RECORDS) * SORT_KEY_BYTES;
    row.sortKey.set(this.#chunkOf(index).keys.subarray(at, at + SORT_KEY_BYTES));
    row.rawKey = this.#rawKeys.get(index) ?? '';
  }

  #readSide(chunk: Chunk, at: number, row: EntryRow): void {
    row.identity = chunk.identities[at] ?? 0;
    row.encryptKey = chunk.encryptKeys[at] ?? 0;
    row.flags = chunk.flags[at] ?? 0;
    this.#tunnels.read(chunk.tunnels[at] ?? 0, row);
  }

  #putSide(chunk: Chunk, at: number, row: EntryRow): void {
    chunk.identities[at] = row.identity;
    chunk.tunnels[at] = this.#tunnels.numberOf(row);
    chunk.encryptKeys[at] = row.encryptKey;
    chunk.flags[at] = row.flags;
  }

  #side(chunk: Chunk, at: number): EntrySide {
    const identity = chunk.identities[at] ?? 0;
    const encryptKey = chunk.encryptKeys[at] ?? 0;
    const flags = chunk.flags[at] ?? 0;
    const tunnelEndpoint = this.#tunnels.text(chunk.tunnels[at] ?? 0);
    return tunnelEndpoint === undefined
      ? { identity, encryptKey, flags }
      : { identity, tunnelEndpoint, encryptKey, flags };
  }
}
