/** Turns what differs into findings, migrations and counts. Pure. */
import { EntryRow } from '../snapshot/entry-row.ts';
import { CHANGE_CLASSES, type ChangeClass, classBit, classesOf } from './change-class.ts';
import { acceptsIdentities, type ChangeFilter, EVERYTHING } from './change-filter.ts';
import type { Change, ChangeValues } from './change-table.ts';
import { classifyChange } from './classify-change.ts';
import { classifyView, type NodeView, type ViewNote } from './classify-view.ts';
import type { Comparison, ReadSide } from './compare-readings.ts';
import { type KeyReplacement, layoutFlags, type Migration, mapReplaced } from './migrations.ts';
import type { RelabelledIdentity } from './relabelled.ts';

export interface JudgeOptions {
  /** Compare what two nodes see, by labels, instead of two readings of one node by number. */
  readonly nodes?: boolean;
  readonly filter?: ChangeFilter;
}

/** The most telling first; it names the finding and says how severe it is. */
export type FindingClasses = readonly [ChangeClass, ...ChangeClass[]];

/** One finding about an entry. */
export interface EntryFinding {
  readonly classes: FindingClasses;
  readonly change: Change;
}

/** One finding about a number that kept its value. */
export interface IdentityFinding {
  readonly classes: readonly ['cidr-label-lost' | 'relabelled'];
  readonly relabelled: RelabelledIdentity;
  /** Entries that carry it, after or else before. */
  readonly entries: number;
  /** One of them. */
  readonly example: string;
}

export type Counts = Readonly<Record<ChangeClass, number>>;

/** Of a comparison of nodes: what is different and rightly so. */
export type NoteCounts = Readonly<Record<ViewNote, number>>;

export class Findings {
  readonly comparison: Comparison;
  /** How many findings have each class; one may have several. */
  readonly counts: Counts;
  readonly notes: NoteCounts;
  readonly migrations: readonly Migration[];
  readonly identities: readonly IdentityFinding[];
  /** How many findings there are. */
  readonly size: number;
  /** A set of classes for each change, in the order of the table. */
  readonly classes: Uint16Array;

  constructor(comparison: Comparison, judged: Judged) {
    this.comparison = comparison;
    this.classes = judged.classes;
    this.identities = judged.identities;
    this.migrations = judged.migrations;
    this.notes = judged.notes;
    const { size, counts } = count(judged);
    this.size = size;
    this.counts = counts;
  }

  /** Findings about entries in the order of a snapshot, each made when it is asked for. */
  *entries(): IterableIterator<EntryFinding> {
    for (let i = 0; i < this.classes.length; i++) {
      const bits = this.classes[i] ?? 0;
      if (bits !== 0)
        yield { classes: classesOf(bits) as unknown as FindingClasses, change: this.comparison.changes.at(i) };
    }
  }

  /** Visits what `entries()` gives as rows, for who needs only the places. @param visit gets the same row each time */
  visitRows(visit: (row: EntryRow, first: ChangeClass) => void): void {
    const row = new EntryRow();
    for (let i = 0; i < this.classes.length; i++) {
      const [first] = classesOf(this.classes[i] ?? 0);
      if (first === undefined) continue;
      this.comparison.changes.readKey(i, row);
      visit(row, first);
    }
  }

  /** How many findings have at least one of the classes. */
  countOf(classes: ReadonlySet<ChangeClass>): number {
    const wanted = [...classes].reduce((bits, name) => bits | classBit(name), 0);
    let count = this.identities.filter(({ classes: [name] }) => classes.has(name)).length;
    for (const bits of this.classes) if ((bits & wanted) !== 0) count++;
    return count;
  }
}

interface Judged {
  readonly classes: Uint16Array;
  readonly identities: readonly IdentityFinding[];
  readonly migrations: readonly Migration[];
  readonly notes: NoteCounts;
}

/** The same findings, without those that only say that one encryption key took the place of another. */
export function withoutKeyReplacement(findings: Findings, replaced: KeyReplacement): Findings {
  const { comparison, identities, migrations, notes, counts } = findings;
  const rekeyed = classBit('rekeyed');
  const classes = findings.classes.map((bits) => bits & ~rekeyed);
  const migration: Migration = { migration: 'key-replaced', ...replaced, entries: counts.rekeyed };
  return new Findings(comparison, { classes, identities, notes, migrations: [...migrations, migration] });
}

/** Judges a comparison. */
export function judge(comparison: Comparison, options: JudgeOptions = {}): Findings {
  return new Findings(
    comparison,
    options.nodes === true ? judgeNodes(comparison, options) : judgeTime(comparison, options),
  );
}

function judgeNodes({ changes, before, after }: Comparison, { filter = EVERYTHING }: JudgeOptions): Judged {
  const classes = new Uint16Array(changes.size);
  const notes = { own: 0, local: 0, unlabelled: 0 };
  const keep = ~maskOf(filter.ignoreClasses);
  const a = viewOf(before);
  const b = viewOf(after);
  for (let i = 0; i < changes.size; i++) {
    const change = changes.valuesAt(i);
    if (!acceptsIdentities(filter, identitiesOf(change))) continue;
    const { classes: bits, note } = classifyView(change, a, b);
    classes[i] = bits & keep;
    if (note !== undefined) notes[note]++;
  }
  return { classes, identities: [], migrations: [], notes };
}

function judgeTime(comparison: Comparison, { filter = EVERYTHING }: JudgeOptions): Judged {
  const { changes, before, after } = comparison;
  const classes = new Uint16Array(changes.size);
  const migratedFlags = layoutFlags(before.header.map, after.header.map);
  const labelsBefore = before.identities.labels.bind(before.identities);
  const labelsAfter = after.identities.labels.bind(after.identities);
  const keep = ~maskOf(filter.ignoreClasses);
  const migrated = { world: 0, flags: 0 };
  for (let i = 0; i < changes.size; i++) {
    const change = changes.valuesAt(i);
    if (!acceptsIdentities(filter, identitiesOf(change))) continue;
    const judged = classifyChange(change, { labelsBefore, labelsAfter, migratedFlags });
    if (judged.worldSplit) migrated.world++;
    if (judged.migratedFlags) migrated.flags++;
    classes[i] = judged.classes & keep;
  }
  const identities = judgeIdentities(comparison, filter);
  const worlds = comparison.relabelled.filter(({ change }) => change.kind === 'world-split').length;
  const migrations: (Migration | undefined)[] = [
    mapReplaced(before.header, after.header),
    worlds + migrated.world > 0 ? { migration: 'world-split', identities: worlds, entries: migrated.world } : undefined,
    migrated.flags > 0 ? { migration: 'layout-flags', entries: migrated.flags, flags: migratedFlags } : undefined,
  ];
  return {
    classes,
    identities,
    migrations: migrations.filter((migration) => migration !== undefined),
    notes: { own: 0, local: 0, unlabelled: 0 },
  };
}

function judgeIdentities({ relabelled, usesBefore, usesAfter }: Comparison, filter: ChangeFilter): IdentityFinding[] {
  const findings: IdentityFinding[] = [];
  for (const item of relabelled) {
    const { kind } = item.change;
    const name = kind === 'cidr-lost' ? 'cidr-label-lost' : 'relabelled';
    const after = usesAfter.of(item.identity);
    const uses = after.count > 0 ? after : usesBefore.of(item.identity);
    // A number that no entry carries decides about no packet.
    if (kind === 'world-split' || uses.count === 0 || filter.ignoreClasses.includes(name)) continue;
    if (!acceptsIdentities(filter, [item.identity])) continue;
    findings.push({ classes: [name], relabelled: item, entries: uses.count, example: uses.example });
  }
  return findings;
}

function viewOf({ identities, own }: ReadSide): NodeView {
  return { labels: identities.labels.bind(identities), own };
}

function identitiesOf({ before, after }: ChangeValues): number[] {
  return [before?.identity, after?.identity].filter((identity) => identity !== undefined);
}

function maskOf(classes: readonly ChangeClass[]): number {
  return classes.reduce((bits, name) => bits | classBit(name), 0);
}

function count({ classes, identities }: Judged): { size: number; counts: Counts } {
  const counts = Object.fromEntries(CHANGE_CLASSES.map((name) => [name, 0])) as Record<ChangeClass, number>;
  // Half a million sets have few different values: these are told apart, not the sets.
  const sets = new Map<number, number>();
  for (const bits of classes) sets.set(bits, (sets.get(bits) ?? 0) + 1);
  sets.delete(0);
  let size = identities.length;
  for (const {
    classes: [name],
  } of identities)
    counts[name]++;
  for (const [bits, times] of sets) {
    size += times;
    for (const name of classesOf(bits)) counts[name] += times;
  }
  return { size, counts };
}
