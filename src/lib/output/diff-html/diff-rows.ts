import { CHANGE_CLASSES, type ChangeClass } from '../../diff/change-class.ts';
import type { EntryFinding } from '../../diff/judge.ts';
import type { DiffModel } from '../diff-view.ts';
import { entryWords, identityFindingWords } from '../diff-words.ts';

export const MOST_ROWS = 5_000;

export interface PageRow {
  readonly name: ChangeClass;
  readonly also: readonly ChangeClass[];
  readonly prefix: string;
  readonly message: string;
}

/** The most telling findings first, within one class in the order of addresses; not more than a page can show. */
export function* diffRows({ findings }: DiffModel): Generator<PageRow, void> {
  const { before, after } = findings.comparison;
  const labels = {
    before: before.identities.labels.bind(before.identities),
    after: after.identities.labels.bind(after.identities),
  };
  const byClass = new Map<ChangeClass, EntryFinding[]>(CHANGE_CLASSES.map((name) => [name, []]));
  for (const finding of findings.entries()) {
    const list = byClass.get(finding.classes[0]) ?? [];
    if (list.length < MOST_ROWS) list.push(finding);
  }
  for (const [name, entries] of byClass) {
    for (const finding of findings.identities) {
      if (finding.classes[0] !== name) continue;
      const prefix = finding.entries === 1 ? finding.example : `${finding.entries} entries`;
      yield { name, also: [], prefix, message: identityFindingWords(finding) };
    }
    for (const finding of entries) {
      const [, ...also] = finding.classes;
      yield { name, also, prefix: finding.change.prefix, message: entryWords(finding, labels) };
    }
  }
}
