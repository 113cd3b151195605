import { CHANGE_CLASSES, type ChangeClass, SEVERITY, type Severity } from '../diff/change-class.ts';
import type { EntrySide } from '../diff/change-table.ts';
import type { ReadSide } from '../diff/compare-readings.ts';
import type { EntryFinding, FindingClasses, Findings, IdentityFinding } from '../diff/judge.ts';
import { scopeOf } from '../identity/numeric-identity.ts';
import { flagNames } from '../ipcache/flags.ts';
import { countWords, entryWords, HINTS, identityFindingWords, migrationWords, type SideLabels } from './diff-words.ts';
import { escapeText } from './escape.ts';
import { findingText } from './finding-view.ts';
import { policyMapWords } from './policy-map-words.ts';
import { JsonItems, type JsonObject, type ReportView } from './view.ts';

/** Number → in how many policy maps it stands; null: could not be counted. */
export type PolicyMapCount = (identity: number) => number | null;

export interface DiffModel {
  readonly before: string;
  readonly after: string;
  /** `agent`: foretold, not compared. */
  readonly by: 'numbers' | 'labels' | 'agent';
  readonly findings: Findings;
  /** Absent where the policy maps of this machine have nothing to do with it. */
  readonly policyMaps?: PolicyMapCount | undefined;
}

/** What `ipc diff` found. */
export const diffView: ReportView<DiffModel> = {
  kind: 'diff',
  json(model) {
    const { findings, by } = model;
    const { before, after } = findings.comparison;
    return {
      before: sourceJson(model.before, before),
      after: sourceJson(model.after, after),
      by,
      complete: before.complete && after.complete,
      summary: {
        findings: findings.size,
        ...summaryCounts(findings.counts),
        ...(by === 'labels' && {
          ownView: findings.notes.own,
          localOnOneSide: findings.notes.local,
          unlabelled: findings.notes.unlabelled,
        }),
      },
      migrations: findings.migrations.map((migration) => ({ ...migration, message: migrationWords(migration) })),
      hints: Object.fromEntries(found(findings).map((name) => [name, HINTS[name]])),
      items: new JsonItems(() => items(model)),
    };
  },
  *text(model, paint) {
    const { findings, by } = model;
    const { before, after } = findings.comparison;
    const describe = (name: string, { entries, header }: ReadSide): string =>
      `${escapeText(name)} (${header.time}${header.node === undefined ? '' : `, ${escapeText(header.node)}`}, ${entries} entries)`;
    yield `${describe(model.before, before)} → ${describe(model.after, after)}`;
    for (const migration of findings.migrations) yield paint.dim(`known   ${migrationWords(migration)}`);
    if (by === 'labels') {
      const { own, local, unlabelled } = findings.notes;
      yield paint.dim(`known   ${own} entries where a node sees itself, ${local} local prefixes on one side only`);
      if (unlabelled > 0)
        yield paint.warning(`${unlabelled} local entries could not be compared: labels are not known`);
    }
    for (const { check, severity, message, policyMaps } of items(model))
      yield* findingText({ check, severity, message: `${message}${policyMapWords(policyMaps)}` }, paint);
    for (const name of found(findings)) yield paint.dim(`→ ${name}: ${HINTS[name]}`);
    yield findings.size === 0 ? paint.good(countWords(findings.counts)) : paint.bold(countWords(findings.counts));
  },
};

/** The classes that occur. */
function found({ counts }: Findings): ChangeClass[] {
  return CHANGE_CLASSES.filter((name) => counts[name] > 0);
}

/** One finding as it is printed. */
interface DiffItem extends JsonObject {
  readonly check: ChangeClass;
  readonly severity: Severity;
  readonly message: string;
  readonly policyMaps?: number | null | undefined;
}

function* items(model: DiffModel): Generator<DiffItem, void> {
  const { findings, policyMaps } = model;
  const { before, after } = findings.comparison;
  const labels = {
    before: before.identities.labels.bind(before.identities),
    after: after.identities.labels.bind(after.identities),
  };
  for (const finding of findings.identities) yield identityItem(finding, policyMaps);
  for (const finding of findings.entries()) yield entryItem(finding, labels, policyMaps);
}

function identityItem(finding: IdentityFinding, policyMaps: PolicyMapCount | undefined): DiffItem {
  const { classes, relabelled, entries, example } = finding;
  const { identity, before, after } = relabelled;
  const [check] = classes;
  return {
    check,
    severity: SEVERITY[check],
    prefix: entries === 1 ? example : undefined,
    identity,
    entries,
    message: identityFindingWords(finding),
    before: { identity, scope: scopeOf(identity), labels: before },
    after: { identity, scope: scopeOf(identity), labels: after },
    policyMaps: policyMaps?.(identity),
  };
}

function entryItem(finding: EntryFinding, labels: SideLabels, policyMaps: PolicyMapCount | undefined): DiffItem {
  const { classes, change } = finding;
  const { prefix, before, after } = change;
  const leaves = before !== undefined && before.identity !== after?.identity;
  const [check] = classes;
  return {
    check,
    also: alsoOf(classes),
    severity: SEVERITY[check],
    prefix,
    message: `${prefix}: ${entryWords(finding, labels)}`,
    before: before && sideJson(before, labels.before),
    after: after && sideJson(after, labels.after),
    policyMaps: leaves ? policyMaps?.(before.identity) : undefined,
  };
}

function alsoOf(classes: FindingClasses): readonly ChangeClass[] | undefined {
  return classes.length === 1 ? undefined : classes.slice(1);
}

function sideJson(
  { identity, tunnelEndpoint, encryptKey, flags }: EntrySide,
  labels: (identity: number) => readonly string[] | undefined,
): JsonObject {
  return {
    identity,
    scope: scopeOf(identity),
    labels: labels(identity),
    tunnelEndpoint,
    encryptKey,
    flags: flagNames(flags),
  };
}

function sourceJson(source: string, { header, entries }: ReadSide): JsonObject {
  const { node, cluster, time, map } = header;
  return { source, node, cluster, time, map: { id: map.id, pin: map.pin, layout: map.layout }, entries };
}

/** As other summaries: camelCase words. */
function summaryCounts(counts: Readonly<Record<ChangeClass, number>>): JsonObject {
  const { 'cidr-label-lost': cidrLabelLost, ...others } = counts;
  return { cidrLabelLost, ...others };
}
