/**
 * Local numbers that stand in the map and in no checkpoint. An agent writes its checkpoint up to ten seconds after it
 * allocates, so one reading proves nothing: an orphan is missing from two, far enough apart. A global number never is
 * one: nobody on this node writes those down.
 */
import type { IdentityUse } from './identity-use.ts';
import { isAllocatedHere } from './known-identities.ts';

export interface OrphanReading {
  readonly use: Pick<IdentityUse, 'counts'>;
  readonly known: { readonly ids: ReadonlySet<number> };
}

/** The numbers of one reading that no checkpoint knows. */
export function orphanCandidates({ use, known }: OrphanReading): number[] {
  return [...use.counts.keys()].filter((id) => isAllocatedHere(id) && !known.ids.has(id));
}

/**
 * Reads, and reads again after `wait` where there is anything to confirm.
 * @param read reads the map first and the checkpoints after it, and keeps the prefixes of the numbers wanted
 * @returns the last reading, and the numbers that were orphans in both
 */
export async function findOrphans<Reading extends OrphanReading>(
  read: (wanted: ReadonlySet<number>) => Promise<Reading>,
  wait: (candidates: number) => Promise<void>,
): Promise<{ readonly reading: Reading; readonly orphans: readonly number[] }> {
  const first = await read(new Set());
  const candidates = orphanCandidates(first);
  if (candidates.length === 0) return { reading: first, orphans: [] };
  await wait(candidates.length);
  const reading = await read(new Set(candidates));
  const again = new Set(orphanCandidates(reading));
  return { reading, orphans: candidates.filter((id) => again.has(id)) };
}
