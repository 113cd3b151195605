/** What became of a label set. Lists are of `source:key=value` text, as snapshots have them. */

export interface LabelsChange {
  /**
   * - `same`
   * - `world-split`: only `reserved:world` became `world-ipv4` or `world-ipv6`, or the other way round: the second
   *   address family of a node was turned on or off
   * - `cidr-lost`: there was a cidr label and now there is none, so no CIDR policy selects it any more
   * - `other`
   */
  readonly kind: 'same' | 'world-split' | 'cidr-lost' | 'other';
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

const WORLDS = new Set(['reserved:world-ipv4', 'reserved:world-ipv6']);

/** Compares two sets; the order of the lists does not matter. */
export function compareLabels(before: readonly string[], after: readonly string[]): LabelsChange {
  const added = without(after, before);
  const removed = without(before, after);
  return { kind: kindOf(before, after, added, removed), added, removed };
}

/** Whether the sets have the same labels. */
export function sameLabels(before: readonly string[], after: readonly string[]): boolean {
  return without(after, before).length === 0 && without(before, after).length === 0;
}

function kindOf(
  before: readonly string[],
  after: readonly string[],
  added: readonly string[],
  removed: readonly string[],
): LabelsChange['kind'] {
  if (added.length === 0 && removed.length === 0) return 'same';
  if (isWorldSplit(added, removed)) return 'world-split';
  return before.some(isCidr) && !after.some(isCidr) ? 'cidr-lost' : 'other';
}

function isWorldSplit(added: readonly string[], removed: readonly string[]): boolean {
  const united = (labels: readonly string[]): boolean => labels.length === 1 && labels[0] === 'reserved:world';
  const split = (labels: readonly string[]): boolean => labels.length > 0 && labels.every((label) => WORLDS.has(label));
  return (united(removed) && split(added)) || (split(removed) && united(added));
}

function isCidr(label: string): boolean {
  return label.startsWith('cidr:');
}

function without(labels: readonly string[], others: readonly string[]): string[] {
  return labels.filter((label) => !others.includes(label));
}
