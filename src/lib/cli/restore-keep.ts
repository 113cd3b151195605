/** What `ipc restore` leaves behind: its own state, and with --hand-over the agent's checkpoint. */
import { RefusedError } from '../errors.ts';
import type { IdentityRecord } from '../identity/caching-allocator.ts';
import { numericIdentity } from '../identity/numeric-identity.ts';
import { type AllocatorFilePlan, planAllocatorFile, writeAllocatorFile } from '../restore/allocator-file.ts';
import { isPlaced, type PlannedEntry } from '../restore/planned-entry.ts';
import { restoredState } from '../restore/restored-state.ts';
import { readMachineFacts } from '../snapshot/machine-facts.ts';
import type { State } from '../state/state.ts';
import type { RestoreFlagValues } from './restore-flags.ts';
import { type RestoreOutcome, summaryOf } from './restore-report.ts';
import type { Prepared, RestoreRunOptions } from './restore-run.ts';

/** @returns undefined without --write-allocator-state @throws {RefusedError} before anything is written */
export function planHandOver(prepared: Prepared, flags: RestoreFlagValues): AllocatorFilePlan | undefined {
  const path = flags['write-allocator-state'];
  if (path === undefined) return undefined;
  return planAllocatorFile(path, records(prepared, flags['include-guessed']));
}

/** Everything whose labels are known: what the checkpoint has, and what the map kept. */
function records({ allocator, plan }: Prepared, includeGuessed: boolean): IdentityRecord[] {
  const all = [...(allocator.records ?? [])];
  const numbers = new Set<number>(all.map(({ id }) => id));
  for (const entry of plan.entries) {
    const { identity, labels, labelsFrom } = entry;
    if (labels === undefined || numbers.has(identity) || !isPlaced(entry)) continue;
    if (labelsFrom === 'guessed' && !includeGuessed) continue;
    numbers.add(identity);
    all.push({ id: numericIdentity(identity), labels });
  }
  if (all.length > 0) return all;
  throw new RefusedError('Cannot write an allocator checkpoint: the labels of no number are known', {
    code: 'NO_LABELS',
    hint: 'restore --from a snapshot that was taken with labels, or say --include-guessed',
  });
}

/** Persists what release, gc, status and listen need, and then the agent's file. */
export async function keepRestored(
  outcome: RestoreOutcome,
  state: State,
  handOver: AllocatorFilePlan | undefined,
  { flags, now }: Pick<RestoreRunOptions, 'flags' | 'now'>,
): Promise<void> {
  const { prepared, written, mapId } = outcome;
  const { source, target, reading, plan, known } = prepared;
  const failed = new Set(written.failures.map(({ entry }) => entry).filter((entry) => entry !== undefined));
  if (outcome.refusal !== undefined) for (const entry of plan.entries) if (isUnwritten(entry)) failed.add(entry);
  await state.write(
    restoredState({
      previous: state.checkpoint,
      plan,
      failed,
      kept: reading.kept,
      known,
      map: { id: mapId ?? 0, layout: (target.made?.layout ?? target.present?.layout)?.name ?? 'v2' },
      source: sourceFacts(source),
      summary: summaryOf(outcome),
      time: new Date(now()).toISOString(),
      bootId: readMachineFacts().bootId ?? '',
      handOver: flags['hand-over'],
    }),
  );
  if (handOver !== undefined) await writeAllocatorFile(handOver);
}

function isUnwritten({ action, writes }: PlannedEntry): boolean {
  return action === 'add' || action === 'update' || writes === true;
}

function sourceFacts({ snapshot, ipcache }: Prepared['source']): { from: string } | { mapId: number } {
  return snapshot === undefined ? { mapId: ipcache?.map.info.id ?? 0 } : { from: snapshot.file };
}
