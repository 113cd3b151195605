/** `ipc restore --as-agent`: what an agent that starts now would make of the map. */
import type { PlanItem } from '../change/plan-item.ts';
import { IncompleteError } from '../errors.ts';
import { DEFAULT_IDENTITY_OPTIONS } from '../identity/options.ts';
import { IDENTITY_INGRESS } from '../identity/reserved.ts';
import { type AgentCandidate, agentCandidate } from '../restore/agent-candidates.ts';
import { foretellAgent } from '../restore/foretell.ts';
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
  const counter = await policyMapCounter(new Set(moved.map(({ before }) => before)), {
    ...options,
    bpffs: shared.bpffs,
  });
  const items: PlanItem[] = [];
  for (const { prefix, before, after } of rows) {
    if (before === after && !flags['all-items']) continue;
    const reason =
      before === after
        ? 'keeps its number'
        : after === undefined
          ? 'not-restored: the agent writes no such entry'
          : `renumbered: has ${before} now`;
    items.push({
      action: before === after ? 'keep' : after === undefined ? 'delete' : 'update',
      prefix,
      identity: after ?? before,
      reason,
      ...(before !== after && counter !== undefined && { policyMaps: counter(before) }),
      done: false,
    });
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
    warnings: complete ? [] : [`the source was not read to its end: ${reason ?? 'cut off'}`],
  };
  if (complete) return { model };
  const failure = new IncompleteError('Cannot foretell everything: the source was not read to its end', {
    code: 'WALK_INCOMPLETE',
    hint: 'run it again when the map changes less',
  });
  return { model, failure };
}
