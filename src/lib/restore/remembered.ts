/** What the state directory remembers of labels, for entries that still have the number they had then. */
import { Labels } from '../identity/labels.ts';
import type { StateCheckpoint, StateIdentity } from '../state/checkpoint.ts';
import type { Remembered } from './plan.ts';

/** @returns undefined for a number, or a prefix of it, that the state does not know labels of */
export function rememberedLabels(
  state: StateCheckpoint | undefined,
): (id: number, prefix: string) => Remembered | undefined {
  const byNumber = new Map<number, StateIdentity>();
  for (const identity of state?.identities ?? []) {
    if (identity.labels !== undefined && identity.labelsFrom !== undefined) byNumber.set(identity.identity, identity);
  }
  return (id, prefix) => {
    const known = byNumber.get(id);
    if (known?.labels === undefined || known.labelsFrom === undefined || !known.prefixes.includes(prefix)) {
      return undefined;
    }
    return { labels: Labels.parse(known.labels), labelsFrom: known.labelsFrom };
  };
}
