/** Label sets as lists of text: for JSON, for people, and the order each of them has (Cilium 1.21, pkg/labels). */
import { formatLabel, type Label, SOURCE_CIDR } from './label.ts';
import { formatCidr, parseLabelCidr } from './label-cidr.ts';
import type { Labels } from './labels.ts';
import { compareText } from './utf8-text.ts';

/** `source:key=value` of each label, sorted by the bytes of the text: the `labels` of every JSON view. */
export function labelsModel(labels: Labels): string[] {
  return [...labels].map(formatLabel).sort(compareText);
}

/** As `labelsModel`, with cidr labels as people write prefixes: `cidr:fd00::/8`. Sorted after the change. */
export function printableLabels(labels: Labels): string[] {
  return [...labels].map(printableLabel).sort(compareText);
}

/** The printable list on one line. */
export function formatLabels(labels: Labels): string {
  return printableLabels(labels).join(',');
}

/** The labels by the bytes of their own keys, which is the order of an identity's label array. */
export function labelArray(labels: Iterable<Label>): Label[] {
  return [...labels].sort((a, b) => compareText(a.key, b.key));
}

/** `[a b c]`, as Go prints such a list. */
export function formatLabelArray(labels: Iterable<Label>): string {
  return `[${[...labels].map(formatLabel).join(' ')}]`;
}

function printableLabel(label: Label): string {
  if (label.source !== SOURCE_CIDR) return formatLabel(label);
  const cidr = parseLabelCidr(label.key);
  return cidr === undefined ? formatLabel(label) : `${SOURCE_CIDR}:${formatCidr(cidr)}`;
}
