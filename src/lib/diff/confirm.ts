/** What two readings agree about: on a map that others change, a single reading proves nothing. */
import { sameLabels } from './compare-labels.ts';
import type { Comparison } from './compare-readings.ts';

/**
 * @param first an earlier comparison of the same inputs
 * @returns the later one, of whose differences only those are left that the first one had in the same way
 */
export function confirmComparison(first: Comparison, second: Comparison): Comparison {
  const earlier = new Map(first.relabelled.map((item) => [item.identity, item]));
  return {
    ...second,
    changes: second.changes.inCommonWith(first.changes),
    relabelled: second.relabelled.filter(({ identity, before, after }) => {
      const item = earlier.get(identity);
      return item !== undefined && sameLabels(item.before, before) && sameLabels(item.after, after);
    }),
  };
}
