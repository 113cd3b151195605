/** What is wrong with a label that Cilium accepts with a complaint in its log. */
import { type Label, SOURCE_CIDR } from './label.ts';
import { parseLabelCidr } from './label-cidr.ts';

/** `bad-cidr-label`: its key is no prefix, so no CIDR policy selects it. `cidr-label-value`: it has a value, which nothing reads. */
export type LabelFault = 'bad-cidr-label' | 'cidr-label-value';

export function labelFaults({ source, key, value }: Label): LabelFault[] {
  if (source !== SOURCE_CIDR) return [];
  const faults: LabelFault[] = [];
  if (parseLabelCidr(key) === undefined) faults.push('bad-cidr-label');
  if (value !== '') faults.push('cidr-label-value');
  return faults;
}
