/** How one label satisfies another (Cilium 1.21, Label.Has, HasKey, Equals). */

import { type Label, labelCidr, SOURCE_ANY, SOURCE_CIDR } from './label.ts';
import { cidrContains } from './label-cidr.ts';
import type { Labels } from './labels.ts';

/** Whether `label` has the key of `target`: `any` in the target stands for every source, a wider cidr for a narrower. */
export function labelHasKey(label: Label, target: Label): boolean {
  if (target.source !== SOURCE_ANY && target.source !== label.source) return false;
  if (target.source !== SOURCE_CIDR) return label.key === target.key;
  const outer = labelCidr(target);
  const inner = labelCidr(label);
  return outer !== undefined && inner !== undefined && cidrContains(outer, inner);
}

/** As `labelHasKey`, and the same value. */
export function labelHas(label: Label, target: Label): boolean {
  return labelHasKey(label, target) && label.value === target.value;
}

/** Same key and value; `any` on the left stands for every source. */
export function labelEquals(label: Label, other: Label): boolean {
  return (
    (label.source === SOURCE_ANY || label.source === other.source) &&
    label.key === other.key &&
    label.value === other.value
  );
}

/** Whether any label of the set satisfies the target. */
export function labelsHave(labels: Labels, target: Label): boolean {
  return labels.some((label) => labelHas(label, target));
}
