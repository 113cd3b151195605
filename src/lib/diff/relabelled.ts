/** Numbers that kept their value and lost their meaning: the same identity with other labels than before. */
import type { EntryRow } from '../snapshot/entry-row.ts';
import type { IdentityTable } from '../snapshot/identity-table.ts';
import { compareLabels, type LabelsChange } from './compare-labels.ts';

export interface RelabelledIdentity {
  readonly identity: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly change: LabelsChange;
}

/** Numbers that both sides know, with labels that differ, by number. @throws {MalformedError} */
export function findRelabelled(before: IdentityTable, after: IdentityTable): RelabelledIdentity[] {
  const found: RelabelledIdentity[] = [];
  for (const identity of before.differing(after)) {
    const had = before.labels(identity);
    const has = after.labels(identity);
    if (had === undefined || has === undefined) continue;
    const change = compareLabels(had, has);
    if (change.kind !== 'same') found.push({ identity, before: had, after: has, change });
  }
  return found;
}

/** How many entries carry which of a few numbers, and one of them. */
export class IdentityUses {
  readonly #uses: Map<number, { count: number; example: string }>;

  constructor(identities: Iterable<number>) {
    this.#uses = new Map([...identities].map((identity) => [identity, { count: 0, example: '' }]));
  }

  count(row: EntryRow): void {
    const use = this.#uses.get(row.identity);
    if (use !== undefined && use.count++ === 0) use.example = row.prefixText();
  }

  of(identity: number): { readonly count: number; readonly example: string } {
    return this.#uses.get(identity) ?? { count: 0, example: '' };
  }
}
