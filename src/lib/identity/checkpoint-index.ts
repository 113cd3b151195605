/**
 * Labels out of a large checkpoint without making objects of it. The whole file is read once, with all the rules of
 * `parseCheckpoint`; kept are 8 bytes a number and the labels' canonical text, or, for a file in any other form than the
 * agent's own, the file's bytes.
 */
import { withCheckpointFile } from './checkpoint-file.ts';
import { PlainRecordReader } from './checkpoint-plain.ts';
import { readRecord } from './checkpoint-record.ts';
import { forEachRecord } from './checkpoint-records.ts';
import { IdTable } from './id-table.ts';
import { JsonCursor } from './json-cursor.ts';
import { Labels } from './labels.ts';
import { visitPlainRecords } from './plain-file.ts';

/** What a record has at least, nearly always: a number and one or two labels. */
const RECORD_BYTES = 128;

export class CheckpointIndex {
  readonly #table: IdTable;
  readonly #labelsAt: (offset: number) => Labels;

  private constructor(table: IdTable, labelsAt: (offset: number) => Labels) {
    this.#table = table;
    this.#labelsAt = labelsAt;
  }

  /**
   * Reads a checkpoint file.
   * @returns undefined when there is no such file
   * @throws as `readCheckpoint`
   */
  static read(path: string): CheckpointIndex | undefined {
    return withCheckpointFile(path, (file) => {
      const table = new IdTable(file.bytes / RECORD_BYTES);
      const lists = new ListArena(file.bytes);
      const plain = visitPlainRecords(file, path, (id, reader) => table.add(id, lists.add(reader)));
      return plain
        ? new CheckpointIndex(table, (offset) => lists.labels(offset))
        : CheckpointIndex.of(file.readAll(), path);
    });
  }

  /** Indexes the bytes of a checkpoint. @throws {MalformedError} as `parseCheckpoint` */
  static of(bytes: Buffer, file: string): CheckpointIndex {
    const table = new IdTable();
    const plain = new PlainRecordReader(bytes);
    forEachRecord(bytes, file, (cursor, path) => {
      const { at } = cursor;
      const id = plain.match(at);
      if (id !== undefined) cursor.at = plain.end;
      table.add(id ?? readRecord(cursor, path).id, at);
    });
    return new CheckpointIndex(table, (offset) => readRecord(new JsonCursor(bytes, offset), { field: '' }).labels);
  }

  get size(): number {
    return this.#table.size;
  }

  /** In no particular order. */
  ids(): Generator<number> {
    return this.#table.ids();
  }

  /** The labels of a number; of two records with one number those of the first, which the agent gives it to. */
  lookup(id: number): Labels | undefined {
    const offset = this.#table.get(id);
    return offset === undefined ? undefined : this.#labelsAt(offset);
  }
}

/** Sorted lists one after the other, each ended by a zero. A list and its zero are shorter than the record they are from. */
class ListArena {
  readonly #bytes: Buffer;
  #end = 0;

  constructor(capacity: number) {
    // Pages that nothing is written to cost nothing.
    this.#bytes = Buffer.allocUnsafeSlow(capacity);
  }

  add(reader: PlainRecordReader): number {
    const offset = this.#end;
    const end = reader.writeList(this.#bytes, offset);
    this.#bytes[end] = 0;
    this.#end = end + 1;
    return offset;
  }

  labels(offset: number): Labels {
    return Labels.fromReversibleList(this.#bytes.toString('latin1', offset, this.#bytes.indexOf(0, offset)));
  }
}
