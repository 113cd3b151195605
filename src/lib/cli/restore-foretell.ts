/** `ipc restore --as-agent`: what an agent that starts now would make of the map. */
import type { PlanItem } from '../change/plan-item.ts';
import { IncompleteError } from '../errors.ts';
import { DEFAULT_IDENTITY_OPTIONS } from '../identity/options.ts';
import { IDENTITY_INGRESS } from '../identity/reserved.ts';
import { type AgentCandidate, agentCandidate } from '../restore/agent-candidates.ts';
import { type Foretold, foretellAgent } from '../restore/foretell.ts';
import { policyMapCounter } from './policy-map-counts.ts';
import type { RestoreResult } from './restore-report.ts';
import type { RestoreRunOptions } from './restore-run.ts';
import { type RestoreSource, readAllocatorState } from './restore-source.ts';

export async function foretellRestore(source: RestoreSource, options: RestoreRunOptions): Promise<RestoreResult> {
  const { flags, shared, logger } = options;
  const { outgoing } = source;
  const { layout } = outgoing.map;
  const { records } = readAllocatorState(flags, logger);
  const candidates: AgentCandidate[] = [];
  let entries = 0;
  const { complete, reason } = await outgoing.visit({
    onEntry(keys, key, values, value) {
      entries++;
      const candidate = agentCandidate(layout, keys, key, values, value);
      if (candidate === undefined || (candidate.identity === IDENTITY_INGRESS && flags['skip-ingress'])) return;
      candidates.push(candidate);
    },
  });
  const rows = foretellAgent(records, candidates, {
    ...DEFAULT_IDENTITY_OPTIONS,
    enableIPv4: flags.ipv4,
    enableIPv6: flags.ipv6,
  });
  const moved = rows.filter(({ before, after }) => before !== after);
  const changing = new Set(moved.map(({ before }) => before));
  const counter = await policyMapCounter(changing, { ...options, bpffs: shared.bpffs });
  const known = new Set<number>(records?.map(({ id }) => id));
  const split = new Set([...changing].filter((id) => !known.has(id)));
  const items: PlanItem[] = [];
  for (const row of rows) {
    const { prefix, before, after } = row;
    const isSplit = split.has(before);
    if (before === after && !isSplit && !flags['all-items']) continue;
    const action = before === after ? 'keep' : after === undefined ? 'delete' : 'update';
    const policyMaps = before === after && !isSplit ? undefined : counter?.(before);
    items.push({ action, prefix, identity: after ?? before, reason: reasonOf(row, isSplit), policyMaps, done: false });
  }
  const { ipcache, snapshot } = source;
  const model = {
    map: {
      ...(ipcache && { id: ipcache.map.info.id }),
      pin: ipcache?.map.path ?? snapshot?.header.map.pin ?? '',
      layout: layout.name,
      owner: 'agent' as const,
      programs: null,
    },
    from: snapshot === undefined ? {} : { snapshot: snapshot.file, layout: layout.name },
    complete,
    changed: false,
    dryRun: true,
    asAgent: true,
    summary: {
      entries,
      kept: rows.length - moved.length,
      renumbered: moved.filter(({ after }) => after !== undefined).length,
      lost: moved.filter(({ after }) => after === undefined).length,
      skipped: entries - candidates.length,
    },
    skippedByRule: {},
    items,
    warnings: [
      ...(complete ? [] : [`the source was not read to its end: ${reason ?? 'cut off'}`]),
      ...(rows.some(({ before, after }) => before === after && split.has(before)) ? [SPLIT] : []),
    ],
  };
  if (complete) return { model };
  const failure = new IncompleteError('Cannot foretell everything: the source was not read to its end', {
    code: 'WALK_INCOMPLETE',
    hint: 'run it again when the map changes less',
  });
  return { model, failure };
}

/** The agent resolves in random order, and a number that it has no labels for is taken by the first who asks. */
const SPLIT =
  'of entries that share a number whose labels are unknown the agent leaves it to the one it comes to first, which may be any; the others get new, different ones';

function reasonOf({ before, after }: Foretold, isSplit: boolean): string {
  if (after === undefined) return 'not-restored: the agent writes no such entry';
  if (after !== before) return `renumbered: has ${before} now`;
  return isSplit ? 'may-be-renumbered: keeps its number if the agent comes to it first' : 'keeps its number';
}
