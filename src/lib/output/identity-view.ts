/** How identities look. */
import { scopeOf } from '../identity/numeric-identity.ts';
import type { IdentityRow } from '../inventory/identity-row.ts';
import { formatRule } from '../policymap/format-rule.ts';
import type { PolicyRule } from '../policymap/policy-rule.ts';
import { identityWords } from './identity-words.ts';
import type { Column, JsonObject, ListView } from './view.ts';

/** More would make lines that nobody reads; JSON and CSV have all. */
const MOST_IN_A_CELL = 8;

export interface IdentityViewOptions {
  /** For an empty list. */
  readonly empty: string;
  readonly withPrefixes: boolean;
  readonly withPolicy: boolean;
}

export function identityView({ empty, withPrefixes, withPolicy }: IdentityViewOptions): ListView<IdentityRow> {
  const prefixes = listColumn('PREFIXES', ' ', (row) => row.prefixes);
  const policy = listColumn('POLICY', '; ', (row) => row.policy?.map(formatRule));
  return {
    columns: [
      { title: 'IDENTITY', align: 'right', value: (row) => row.identity },
      { title: 'SCOPE', value: ({ identity, name }) => words(identity, name) },
      { title: 'ENTRIES', align: 'right', value: ({ entries }) => entries ?? '?', csv: ({ entries }) => entries ?? '' },
      {
        title: 'LABELS',
        value: ({ labels, meaning }) => labels?.labels.join(' ') ?? (meaning === undefined ? '-' : ''),
        csv: ({ labels }) => labels?.labels.join(' ') ?? '',
      },
      ...(withPrefixes ? [prefixes] : []),
      ...(withPolicy ? [policy] : []),
      { title: 'MEANING', value: ({ meaning, warnings }) => meaning ?? warnings?.join(', ') },
    ],
    empty,
    json: identityJson,
  };
}

function identityJson(row: IdentityRow): JsonObject {
  const { identity, index, clusterId, name, meaning, labels, warnings, entries, prefixes, policy } = row;
  return {
    identity,
    scope: scopeOf(identity),
    index,
    clusterId,
    name,
    meaning,
    labels: labels?.labels,
    labelsFrom: labels?.labelsFrom,
    warnings,
    entries,
    prefixes,
    ...(policy && { policyMaps: new Set(policy.map(({ endpoint }) => endpoint)).size, policy: policy.map(ruleJson) }),
  };
}

function ruleJson({ endpoint, direction, action, protocol, ports }: PolicyRule): JsonObject {
  return { endpoint, direction, action, protocol, ports };
}

/** `kube-dns (102)` has no scope words of its own but a name. */
function words(identity: number, name: string | undefined): string {
  const own = identityWords(identity);
  return name === undefined || name === own ? own : name;
}

function listColumn(
  title: string,
  separator: string,
  texts: (row: IdentityRow) => readonly string[] | undefined,
): Column<IdentityRow> {
  return {
    title,
    value: (row) => shortened(texts(row) ?? [], separator),
    csv: (row) => texts(row)?.join(separator) ?? '',
  };
}

function shortened(texts: readonly string[], separator: string): string {
  if (texts.length === 0) return '-';
  const shown = texts.slice(0, MOST_IN_A_CELL).join(separator);
  return texts.length > MOST_IN_A_CELL ? `${shown} and ${texts.length - MOST_IN_A_CELL} more` : shown;
}
