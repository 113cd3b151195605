/** What came of each entry, in the words of the report of `ipc gc`. */
import type { PlanItem } from '../change/plan-item.ts';
import type { Garbage } from '../gc/collect-garbage.ts';

export type StaleOutcome = Garbage['stale'][number]['outcome'];

/** What the items of a run have in common. */
export interface GcWords {
  /** Why an entry that nobody wants goes. */
  readonly reason: string;
  /** Who was asked. */
  readonly names: string;
}

export function gcWords(
  names: readonly string[],
  { confirmMs, tunnels }: { readonly confirmMs: number; readonly tunnels: readonly string[] },
): GcWords {
  const all = names.join(' or ');
  if (names.length === 0) return { names: all, reason: `of node ${tunnels.join(' or ')}, which is gone` };
  return { names: all, reason: `not in ${all}, twice, ${confirmMs / 1000} s apart` };
}

export interface GcEntry {
  readonly prefix: string;
  readonly identity: number;
  readonly fallsTo?: string | undefined;
}

export function staleItem({ prefix, identity, fallsTo }: GcEntry, outcome: StaleOutcome, words: GcWords): PlanItem {
  switch (outcome) {
    case 'raced':
      return { action: 'keep', prefix, identity, reason: `raced: in ${words.names} again, put back`, done: true };
    case 'changed':
      return { action: 'conflict', prefix, identity, reason: 'changed: not as it was walked', done: false };
    case 'absent':
      return { action: 'skip', prefix, identity, reason: 'absent: deleted by somebody else', done: false };
    case 'deleted':
    case 'planned':
    case 'left':
      return { action: 'delete', prefix, identity, reason: words.reason, fallsTo, done: outcome === 'deleted' };
  }
}

export function keptItem({ prefix, identity }: GcEntry, reason: string): PlanItem {
  return { action: 'skip', prefix, identity, reason, done: false };
}
