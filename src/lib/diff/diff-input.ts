/** One of the two things that are compared. */

import type { IdentityTable } from '../snapshot/identity-table.ts';
import type { SnapshotHeader } from '../snapshot/lines.ts';

/** A snapshot file, or a live map: everything that can be read as the lines of a snapshot. */
export interface DiffInput {
  /** How it was named, for messages and the report. */
  readonly label: string;
  /** A live map changes while it is read: what is found counts only after a second reading. */
  readonly live: boolean;
  /** Begins a reading of its own each time. @throws {ToolError} */
  open(): Promise<DiffReading>;
}

export interface DiffReading extends AsyncDisposable {
  readonly header: SnapshotHeader;
  readonly identities: IdentityTable;
  /** Only once the blocks have come to their end. */
  readonly end: { readonly entries: number; readonly complete: boolean };
  /** Entry lines in the order of a snapshot, once; each block is valid until the next is asked for. */
  entryBlocks(): AsyncGenerator<Uint8Array, void>;
  /** Says where the damage is, after a line was found that is no entry. @throws {MalformedError} or returns it */
  explainDamage(): Promise<Error>;
}
