/** Entries by the labels of their number. */
import { UsageError } from '../errors.ts';
import type { LabelResolver } from './label-resolver.ts';
import { labelsSatisfy, parseLabelSelector } from './label-selector.ts';

/**
 * Decides on numbers: whether their labels satisfy any of the texts. Numbers whose labels nobody knows never do. Each
 * number is decided once.
 * @param texts as `parseLabelSelector` reads them
 * @returns undefined without texts: everything passes
 * @param resolver undefined where the user wants no labels
 * @throws {UsageError} BAD_LABEL; NO_LABELS when there are texts but no resolver
 */
export function labelFilter(
  texts: readonly string[] | undefined,
  resolver: Pick<LabelResolver, 'find'> | undefined,
): ((id: number) => boolean) | undefined {
  if (texts === undefined || texts.length === 0) return undefined;
  if (resolver === undefined) {
    throw new UsageError('Cannot filter by label: labels are not joined', {
      code: 'NO_LABELS',
      hint: 'leave out --no-labels',
    });
  }
  const selectors = texts.map(parseLabelSelector);
  const decided = new Map<number, boolean>();
  return (id) => {
    const known = decided.get(id);
    if (known !== undefined) return known;
    const found = resolver.find(id);
    const passes = found !== undefined && selectors.some((selector) => labelsSatisfy(found.labels, [selector]));
    decided.set(id, passes);
    return passes;
  };
}
