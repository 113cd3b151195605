/**
 * What a run of listed entries is worth on a map that others change. The kernel goes on from a key; when that key has
 * vanished meanwhile it starts over or, before Linux 6.13, goes on somewhere else. And a value is looked up after its
 * key is listed, so the value of a key that vanished in between is that of a wider prefix. Both come down to one
 * question: was the entry still there when the kernel went on from it? Entries of which that is known are trusted:
 * nothing that was there all the time lies between them unseen, and their values are their own.
 *
 * Not visible from outside: a key that is deleted and added again within the call, and the one race of the kernel's own
 * (trie_get_next_key reads without the lock: a change beside the cursor within some 100 ns can hide its neighbour).
 */
import type { KeyProbe } from './key-probe.ts';
import type { KeyRun } from './key-run.ts';

export interface RunProof {
  /** Leading entries that are trusted. */
  readonly trusted: number;
  /** All of them are, and the listing did end there. */
  readonly complete: boolean;
  /** The cursor was gone, so the run says nothing. */
  readonly lost: boolean;
  /** Some key was seen to vanish. */
  readonly disturbed: boolean;
}

const LOST: RunProof = { trusted: 0, complete: false, lost: true, disturbed: true };

/**
 * By order alone, where a listing from a key that is gone starts over at the first key (Linux 6.13): entry i was there
 * if i + 1 follows it. The last one has no witness unless the listing ended with it. A restart would go unseen only if
 * the map now began behind the cursor, so its first key is looked at afterwards.
 */
export function proveByOrder(run: KeyRun, cursor: Uint8Array | undefined, probe: KeyProbe): RunProof {
  if (run.count === 0) return { trusted: 0, complete: run.end, lost: false, disturbed: false };
  if (cursor !== undefined && run.compare(0, cursor) <= 0) return LOST;
  if (!probe.startsBy(cursor ?? run.keys.subarray(0, run.keyBytes))) return LOST;
  const ordered = run.ordered;
  const disturbed = ordered < run.count;
  const complete = run.end && !disturbed;
  return { trusted: complete ? ordered : ordered - 1, complete, lost: false, disturbed };
}

/**
 * By a second reading, on any kernel: entry i was there if it is listed once more, and nothing was passed over before it
 * if the second reading has nothing more there. It starts one key before the cursor, so that it has to list the cursor
 * too; where its own start has vanished it lists something else, and at worst proves too little.
 */
export function proveByRereading(run: KeyRun, cursor: Uint8Array | undefined, again: KeyRun): RunProof {
  const listed = again.ordered;
  let at = 0;
  if (cursor !== undefined) {
    at = again.firstAfter(cursor, listed);
    if (at === 0 || again.compare(at - 1, cursor) !== 0) return LOST;
  }
  const ordered = run.ordered;
  let trusted = 0;
  while (trusted < ordered && at < listed && again.compare(at, run.keys, trusted * run.keyBytes) === 0) {
    trusted++;
    at++;
  }
  const complete = run.end && trusted === run.count && at === listed;
  return { trusted, complete, lost: false, disturbed: trusted < run.count };
}
