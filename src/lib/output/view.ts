/** How one kind of result looks; each command has one view and never asks for the format. */
import type { Paint } from './paint.ts';

/** A JSON object whose fields are printed in the order given; `undefined` ones are left out. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A list in a report that is made item by item while it is printed, however long it is. */
export class JsonItems {
  readonly #items: () => Iterable<JsonObject>;

  /** @param items begins the list anew each time */
  constructor(items: () => Iterable<JsonObject>) {
    this.#items = items;
  }

  [Symbol.iterator](): Iterator<JsonObject> {
    return this.#items()[Symbol.iterator]();
  }

  /** For whoever wants the whole at once. */
  toJSON(): JsonObject[] {
    return [...this];
  }
}

/** A single result: `get`, `stats`, `status`, a plan or what came of it. */
export interface ReportView<Model> {
  /** The word in `kind`, by default the command's name. */
  readonly kind: string;
  /** Fields after `kind` and `schemaVersion`. */
  json(model: Model): JsonObject;
  /** Lines for people; text from outside must have passed `escapeText`. */
  text(model: Model, paint: Paint): Iterable<string>;
  /** For `-o csv`, where the command has it. */
  readonly csv?: { readonly header: readonly string[]; rows(model: Model): Iterable<readonly CsvCell[]> };
}

export type CsvCell = string | number | boolean | undefined;

export interface Column<Row> {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Plain text; the table escapes it. */
  value(row: Row): CsvCell;
  /** For `-o csv`, where the table shortens what it shows. */
  csv?(row: Row): CsvCell;
}

/** Many results of one kind, streamed. */
export interface ListView<Row> {
  readonly columns: readonly Column<Row>[];
  json(row: Row): JsonObject;
  /** What the table shows for an empty list. */
  readonly empty: string;
}
