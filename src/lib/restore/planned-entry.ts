/** What becomes of one entry of the outgoing map, and of all of them. */
import type { Labels } from '../identity/labels.ts';

/** Why an entry did not get its number, or got one that something disagrees with. */
export type ConflictReason =
  /** The target has another number there, and entries that are there are never renumbered. */
  | 'renumbered'
  /** The number means something else by now. */
  | 'number-reused'
  /** The new entry would hide a tunnel or an encrypt key of a wider one. */
  | 'would-lose-tunnel'
  /** The checkpoint has another number for the labels of this prefix; the map's stays. */
  | 'other-number-in-checkpoint'
  /** The layout of the target has no place for a part of the entry. */
  | 'does-not-fit';

export interface PlannedEntry {
  /** As stored: `ADDR/LEN`. */
  readonly prefix: string;
  /** The number that it keeps or gets. */
  readonly identity: number;
  /** What is known of its labels. */
  readonly kind: 'known' | 'guessed' | 'unknown' | 'ingress';
  /** Absent where they are unknown, and for ingress. */
  readonly labels?: Labels;
  readonly labelsFrom?: 'allocator' | 'snapshot' | 'listen' | 'agent' | 'guessed';
  readonly action: 'add' | 'update' | 'keep' | 'conflict';
  readonly reason?: ConflictReason | 'prefer-checkpoint';
  /** The number that stands against it: the target's, or the checkpoint's. */
  readonly other?: number;
  /** The number that it had, where it gets another one. */
  readonly was?: number;
  /** A conflict that is added to the target all the same. */
  readonly writes?: boolean;
}

export interface RestorePlan {
  readonly entries: readonly PlannedEntry[];
  /** Local and remote-node numbers that must not get a second meaning. */
  readonly withheld: ReadonlySet<number>;
  /** Numbers of the checkpoint that are not restored, as their labels belong elsewhere now. */
  readonly rescoped: readonly number[];
}

/** Whether the entry is to be in the target with its number once the restore is done. */
export function isPlaced({ action, reason }: PlannedEntry): boolean {
  return action !== 'conflict' || reason === 'other-number-in-checkpoint';
}

/** Whether the target lacks the entry and gets it. */
export function isAdded({ action, writes }: PlannedEntry): boolean {
  return action === 'add' || writes === true;
}
