/** What can have happened to an entry or an identity between two readings. */

/** From the most to the least telling: where several apply, the first names the item. */
export const CHANGE_CLASSES = [
  'cidr-label-lost',
  'renumbered',
  'relabelled',
  'removed',
  'added',
  'retunnelled',
  'rekeyed',
  'reflagged',
] as const;

export type ChangeClass = (typeof CHANGE_CLASSES)[number];

export type Severity = 'high' | 'medium' | 'low';

/** How much each matters to traffic. */
export const SEVERITY: Readonly<Record<ChangeClass, Severity>> = {
  'cidr-label-lost': 'high',
  renumbered: 'high',
  relabelled: 'high',
  removed: 'high',
  added: 'medium',
  retunnelled: 'medium',
  rekeyed: 'medium',
  reflagged: 'low',
};

/** Its bit in a set of classes. */
export function classBit(name: ChangeClass): number {
  return 1 << CHANGE_CLASSES.indexOf(name);
}

/** The classes of a set, the most telling first. */
export function classesOf(bits: number): ChangeClass[] {
  return CHANGE_CLASSES.filter((_, i) => (bits & (1 << i)) !== 0);
}
