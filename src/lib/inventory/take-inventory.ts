/** Puts together what the map, the checkpoints and the policy maps say about identities. */
import { IncompleteError, NoEntryError, type ToolError } from '../errors.ts';
import { labelFaults } from '../identity/label-faults.ts';
import { canonicalLabels } from '../identity/label-resolver.ts';
import { reservedRow } from '../identity/reserved.ts';
import { wellKnownComponent } from '../identity/well-known.ts';
import type { PolicyRule } from '../policymap/policy-rule.ts';
import type { IdentityQuery } from './identity-query.ts';
import { type IdentityRow, identityRow } from './identity-row.ts';
import type { IdentityUse } from './identity-use.ts';
import { type KnownIdentities, RESERVED_IDS } from './known-identities.ts';
import { findOrphans } from './orphans.ts';

/** How the facts are read; each call reads anew. */
export interface InventoryPorts {
  /** @returns null where there is no map to read and none was named */
  readUse(wanted: ReadonlySet<number>): Promise<IdentityUse | null>;
  readKnown(): Promise<KnownIdentities>;
  /** @param ids undefined asks for all numbers */
  readPolicy(ids: ReadonlySet<number> | undefined): Promise<PolicyRules>;
  /** Waits before the second reading of `orphans`. */
  wait(candidates: number): Promise<void>;
}

export interface PolicyRules {
  readonly rules: ReadonlyMap<number, readonly PolicyRule[]>;
  /** What could not be read; the rules are then only some of them. */
  readonly problems: readonly string[];
}

export interface InventoryQuery extends IdentityQuery {
  readonly only?: 'orphans' | 'unused' | undefined;
  /** Read policy maps, too. */
  readonly policy?: boolean;
}

export interface Inventory {
  /** By number; made one by one, as there may be very many. */
  readonly rows: Iterable<IdentityRow>;
  /** Whether the rows have prefixes. */
  readonly withPrefixes: boolean;
  /**
   * What is to be reported after the rows: what was asked for and is nowhere, with the stores where it was not looked
   * for, or a map not read to its end.
   */
  readonly failures: readonly ToolError[];
}

interface Facts {
  readonly use: IdentityUse | null;
  readonly known: KnownIdentities;
  readonly ids: readonly number[];
  readonly withPrefixes: boolean;
  /** How many numbers the labels found. */
  readonly selected: number;
}

export async function takeInventory(query: InventoryQuery, ports: InventoryPorts): Promise<Inventory> {
  const facts = await gather(query, ports);
  const ids = [...new Set(facts.ids)].sort((a, b) => a - b);
  const everything = query.only === undefined && !hasWords(query);
  const policy = query.policy ? await ports.readPolicy(everything ? undefined : new Set(ids)) : undefined;
  const found = ids.filter((id) => isSomewhere(id, facts));
  const unread = policy?.problems.map((problem) => new IncompleteError(problem)) ?? [];
  return {
    rows: rowsOf(found, facts, policy),
    withPrefixes: facts.withPrefixes && facts.use !== null,
    failures: [...failuresOf(query, facts, found), ...unread],
  };
}

async function gather(query: InventoryQuery, ports: InventoryPorts): Promise<Facts> {
  if (query.only === 'orphans') return orphans(query, ports);
  const known = await ports.readKnown();
  if (query.only === 'unused') return unused(query, known, ports);
  const words = hasWords(query);
  const selected = query.selectors.length > 0 ? known.select(query.selectors) : [];
  const asked = [...query.ids, ...selected];
  const use = await ports.readUse(new Set(asked));
  const ids = words ? asked : [...RESERVED_IDS, ...known.ids, ...(use?.counts.keys() ?? [])];
  return { use, known, ids, withPrefixes: words, selected: selected.length };
}

async function orphans(query: InventoryQuery, ports: InventoryPorts): Promise<Facts> {
  const { reading, orphans: ids } = await findOrphans(
    async (wanted) => ({ use: await mustRead(ports, wanted), known: await ports.readKnown() }),
    (candidates) => ports.wait(candidates),
  );
  return { ...reading, ids: ids.filter(inWords(query, reading.known)), withPrefixes: true, selected: 0 };
}

async function unused(query: InventoryQuery, known: KnownIdentities, ports: InventoryPorts): Promise<Facts> {
  const use = await mustRead(ports, new Set());
  if (use.incomplete !== undefined) throw new IncompleteError(use.incomplete);
  const ids = [...known.ids].filter((id) => use.count(id) === 0).filter(inWords(query, known));
  return { use, known, ids, withPrefixes: false, selected: 0 };
}

async function mustRead(ports: InventoryPorts, wanted: ReadonlySet<number>): Promise<IdentityUse> {
  const use = await ports.readUse(wanted);
  if (use === null) throw new TypeError('a map is needed here, and the port did not insist on one');
  return use;
}

const hasWords = ({ ids, selectors }: IdentityQuery): boolean => ids.length > 0 || selectors.length > 0;

function inWords(query: IdentityQuery, known: KnownIdentities): (id: number) => boolean {
  if (!hasWords(query)) return () => true;
  const ids = new Set([...query.ids, ...(query.selectors.length > 0 ? known.select(query.selectors) : [])]);
  return (id) => ids.has(id);
}

function isSomewhere(id: number, { use, known }: Facts): boolean {
  if (reservedRow(id) !== undefined || wellKnownComponent(id) !== undefined) return true;
  return known.ids.has(id) || known.resolver.find(id) !== undefined || (use?.count(id) ?? 0) > 0;
}

function rowOf(identity: number, { use, known, withPrefixes }: Facts, policy: PolicyRules | undefined): IdentityRow {
  const found = known.resolver.find(identity);
  const faults = found ? [...found.labels].flatMap(labelFaults) : [];
  return identityRow({
    identity,
    labels: found && { labels: canonicalLabels(found.labels), labelsFrom: found.labelsFrom },
    ...(faults.length > 0 && { warnings: [...new Set(faults)] }),
    entries: use === null ? null : use.count(identity),
    prefixes: withPrefixes && use !== null ? (use.prefixes.get(identity) ?? []) : undefined,
    policy: policy && (policy.rules.get(identity) ?? []),
  });
}

function* rowsOf(ids: readonly number[], facts: Facts, policy: PolicyRules | undefined): Generator<IdentityRow> {
  for (const id of ids) yield rowOf(id, facts, policy);
}

function failuresOf(
  query: InventoryQuery,
  { use, known, selected }: Facts,
  ids: readonly number[],
): Inventory['failures'] {
  const failures: ToolError[] = [];
  if (use?.incomplete !== undefined) failures.push(new IncompleteError(use.incomplete));
  if (query.only !== undefined) return failures;
  const found = new Set(ids);
  const missing = query.ids.filter((id) => !found.has(id));
  const checkpoint = known.unread.length > 0 ? 'no checkpoint that could be read' : 'no checkpoint';
  const where =
    use === null ? `it is in ${checkpoint}, and no map was read` : `it is in ${checkpoint} and not in the map`;
  for (const id of missing) failures.push(noIdentity(String(id), where));
  if (missing.length > 0) failures.push(...known.unread);
  if (query.selectors.length > 0 && selected === 0) {
    failures.push(noIdentity(query.selectors.map(({ text }) => text).join(' '), 'no checkpoint has such labels'));
  }
  return failures;
}

function noIdentity(what: string, state: string): NoEntryError {
  return new NoEntryError(`Cannot find identity ${what}: ${state}`, {
    code: 'NO_IDENTITY',
    hint: 'ipc identity lists all; labels of global numbers are in the cluster, not on this node',
  });
}
