/** Reads both sides once and keeps what differs, unjudged. */
import { hasLocalScope, hasRemoteNodeScope } from '../identity/numeric-identity.ts';
import { IDENTITY_HOST } from '../identity/reserved.ts';
import { formatAddress } from '../net/address.ts';
import { addressBits } from '../net/prefix.ts';
import { ADDRESS_AT, type EntryRow } from '../snapshot/entry-row.ts';
import type { IdentityTable } from '../snapshot/identity-table.ts';
import type { SnapshotHeader } from '../snapshot/lines.ts';
import { ChangeTable } from './change-table.ts';
import { sameLabels } from './compare-labels.ts';
import type { DiffInput, DiffReading } from './diff-input.ts';
import { UnreadableLine } from './line-cursor.ts';
import { mergeLines } from './merge-lines.ts';
import { findRelabelled, IdentityUses, type RelabelledIdentity } from './relabelled.ts';

/** What is known of one side after it was read. */
export interface ReadSide {
  readonly header: SnapshotHeader;
  readonly identities: IdentityTable;
  readonly entries: number;
  readonly complete: boolean;
  /** Addresses that are `host` there, as text. Only in a comparison of nodes. */
  readonly own: ReadonlySet<string>;
}

export interface Comparison {
  readonly before: ReadSide;
  readonly after: ReadSide;
  /** Entries that are not the same, in the order of a snapshot. */
  readonly changes: ChangeTable;
  /** Empty in a comparison of nodes, where numbers mean nothing by themselves. */
  readonly relabelled: readonly RelabelledIdentity[];
  readonly usesBefore: IdentityUses;
  readonly usesAfter: IdentityUses;
}

export interface CompareOptions {
  /** Compare two nodes: entries with equal numbers count as different when the labels are. */
  readonly nodes: boolean;
  /** Entries to look at; undefined: all. */
  readonly accepts?: ((row: EntryRow) => boolean) | undefined;
}

/** @throws {ToolError} what opening and reading the inputs throws */
export async function compareInputs(a: DiffInput, b: DiffInput, options: CompareOptions): Promise<Comparison> {
  await using before = await a.open();
  await using after = await b.open();
  const merge = new Merge(before, after, options);
  try {
    await mergeLines(before.entryBlocks(), after.entryBlocks(), merge.visitor());
  } catch (cause) {
    if (!(cause instanceof UnreadableLine)) throw cause;
    throw await (cause.side === 'a' ? before : after).explainDamage();
  }
  return merge.result();
}

class Merge {
  readonly #before: DiffReading;
  readonly #after: DiffReading;
  readonly #nodes: boolean;
  readonly #accepts: (row: EntryRow) => boolean;
  readonly #changes = new ChangeTable();
  readonly #relabelled: readonly RelabelledIdentity[];
  readonly #usesBefore: IdentityUses;
  readonly #usesAfter: IdentityUses;
  readonly #ownBefore = new Set<string>();
  readonly #ownAfter = new Set<string>();

  constructor(before: DiffReading, after: DiffReading, { nodes, accepts = () => true }: CompareOptions) {
    this.#before = before;
    this.#after = after;
    this.#nodes = nodes;
    this.#accepts = accepts;
    this.#relabelled = nodes ? [] : findRelabelled(before.identities, after.identities);
    const numbers = this.#relabelled.map(({ identity }) => identity);
    this.#usesBefore = new IdentityUses(numbers);
    this.#usesAfter = new IdentityUses(numbers);
  }

  visitor() {
    const needsAll = this.#nodes || this.#relabelled.length > 0;
    return {
      removed: (a: EntryRow) => this.#push(a, undefined),
      added: (b: EntryRow) => this.#push(undefined, b),
      changed: (a: EntryRow, b: EntryRow) => this.#push(a, b),
      same: needsAll ? (row: EntryRow) => this.#same(row) : undefined,
    };
  }

  result(): Comparison {
    const side = ({ header, identities, end }: DiffReading, own: ReadonlySet<string>): ReadSide => ({
      header,
      identities,
      entries: end.entries,
      complete: end.complete,
      own,
    });
    return {
      before: side(this.#before, this.#ownBefore),
      after: side(this.#after, this.#ownAfter),
      changes: this.#changes,
      relabelled: this.#relabelled,
      usesBefore: this.#usesBefore,
      usesAfter: this.#usesAfter,
    };
  }

  #push(a: EntryRow | undefined, b: EntryRow | undefined): void {
    this.#noteOwn(a, b);
    const row = a ?? b;
    if (row === undefined || !this.#accepts(row)) return;
    this.#changes.push(a, b);
    if (a !== undefined) this.#usesBefore.count(a);
    if (b !== undefined) this.#usesAfter.count(b);
  }

  /** The line is the same; what it means may differ. */
  #same(row: EntryRow): void {
    this.#noteOwn(row, row);
    if (!this.#accepts(row)) return;
    this.#usesBefore.count(row);
    this.#usesAfter.count(row);
    if (!this.#nodes || !(hasLocalScope(row.identity) || hasRemoteNodeScope(row.identity))) return;
    const had = this.#before.identities.labels(row.identity);
    const has = this.#after.identities.labels(row.identity);
    if (had !== undefined && has !== undefined && sameLabels(had, has)) return;
    this.#changes.push(row, row);
  }

  /** A node's addresses are known by all its entries, whether they are looked at or not. */
  #noteOwn(a: EntryRow | undefined, b: EntryRow | undefined): void {
    if (!this.#nodes) return;
    if (a !== undefined) noteOwn(a, this.#ownBefore);
    if (b !== undefined) noteOwn(b, this.#ownAfter);
  }
}

function noteOwn(row: EntryRow, own: Set<string>): void {
  if (row.identity !== IDENTITY_HOST || row.rawKey !== '' || row.clusterId !== 0) return;
  const bits = addressBits(row.family);
  if (row.length === bits) own.add(formatAddress(row.sortKey.subarray(ADDRESS_AT, ADDRESS_AT + bits / 8)));
}
