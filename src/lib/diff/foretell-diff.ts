/** What a map is compared with what an agent would make of it at its next start. */
import type { IdentityRecord } from '../identity/caching-allocator.ts';
import { DEFAULT_IDENTITY_OPTIONS } from '../identity/options.ts';
import type { EntryTable } from '../ipcache/entry-table.ts';
import { KEY_BYTES, type Layout } from '../ipcache/layout.ts';
import { type AgentCandidate, agentCandidate } from '../restore/agent-candidates.ts';
import { foretellAgent } from '../restore/foretell.ts';
import { compareRows, EntryRow } from '../snapshot/entry-row.ts';
import type { IdentityTable } from '../snapshot/identity-table.ts';
import type { SnapshotHeader } from '../snapshot/lines.ts';
import { parseStoredPrefix } from '../snapshot/stored-prefix.ts';
import { acceptsRow, type ChangeFilter } from './change-filter.ts';
import { ChangeTable } from './change-table.ts';
import type { Comparison, ReadSide } from './compare-readings.ts';
import { type Findings, judge } from './judge.ts';
import { IdentityUses } from './relabelled.ts';

export interface ForetellInput {
  readonly header: SnapshotHeader;
  readonly identities: IdentityTable;
  readonly table: EntryTable;
  readonly layout: Layout;
  readonly complete: boolean;
  /** The allocator checkpoint that the agent will find; undefined: none. */
  readonly records: readonly IdentityRecord[] | undefined;
}

/** Entries that the agent restores under another number, or not at all. What it passes over is announced anew anyway. */
export function foretellDiff(input: ForetellInput, filter: ChangeFilter): Findings {
  const { header, identities, table, complete, records } = input;
  const isDual = header.families.length === 0 || haveSplitWorld(records);
  const options = {
    ...DEFAULT_IDENTITY_OPTIONS,
    enableIPv4: isDual || header.families.includes('ipv4'),
    enableIPv6: isDual || header.families.includes('ipv6'),
  };
  const accepts = acceptsRow(filter) ?? (() => true);
  const moved = foretellAgent(records, candidatesOf(input), options)
    .filter(({ before, after }) => before !== after)
    .flatMap(({ prefix, before, after }) => rowsOf(prefix, before, after))
    .filter(({ before }) => accepts(before))
    .sort((a, b) => compareRows(a.before, b.before));
  const changes = new ChangeTable();
  for (const { before, after } of moved) changes.push(before, after);
  const side: ReadSide = { header, identities, entries: table.count, complete, own: new Set() };
  const none = new IdentityUses([]);
  const comparison: Comparison = {
    before: side,
    after: side,
    changes,
    relabelled: [],
    usesBefore: none,
    usesAfter: none,
  };
  return judge(comparison, { filter });
}

/** Only where both families are on is the world two labels; that a map has no entry of a family does not say that it is off. */
function haveSplitWorld(records: readonly IdentityRecord[] = []): boolean {
  return records.some(({ labels }) => /reserved:world-ipv[46]=;/.test(labels.sortedList));
}

function candidatesOf({ table, layout }: ForetellInput): AgentCandidate[] {
  const candidates: AgentCandidate[] = [];
  const { keys, values, valueBytes, count } = table;
  for (let i = 0; i < count; i++) {
    const candidate = agentCandidate(layout, keys, i * KEY_BYTES, values, i * valueBytes);
    if (candidate !== undefined) candidates.push(candidate);
  }
  return candidates;
}

/** Empty for what is no prefix: no lookup asks for it, before or after. */
function rowsOf(text: string, before: number, after: number | undefined): { before: EntryRow; after?: EntryRow }[] {
  const prefix = parseStoredPrefix(text);
  if (prefix === undefined) return [];
  const row = (identity: number): EntryRow => {
    const made = new EntryRow();
    made.setPrefix(prefix.family, prefix.clusterId, prefix.address, prefix.length);
    made.identity = identity;
    return made;
  };
  return [{ before: row(before), ...(after !== undefined && { after: row(after) }) }];
}
