/** What people write to find identities by label: `k8s:app=x`, `app=x` (any source), `app` (any value), `cidr:10.0.0.0/8`. */
import { UsageError } from '../errors.ts';
import { type Label, parseLabel, SOURCE_ANY, SOURCE_RESERVED } from './label.ts';
import { labelHas, labelHasKey } from './label-match.ts';
import type { Labels } from './labels.ts';

export interface LabelSelector {
  readonly text: string;
  readonly target: Label;
  /** False: the key alone counts. */
  readonly withValue: boolean;
}

/**
 * Reads one. Without a source any source matches; a cidr matches every narrower one too.
 * @throws {UsageError} BAD_LABEL when there is no key
 */
export function parseLabelSelector(text: string): LabelSelector {
  const equals = text.indexOf('=');
  const colon = text.indexOf(':');
  // In `app=a:b` the colon belongs to the value, although the label's own grammar would make `app=a` its source.
  const hasSource = text.startsWith('$') || (colon > 0 && (equals < 0 || colon < equals));
  const label = parseLabel(hasSource ? text : `${SOURCE_ANY}:${text.replace(/^:/, '')}`);
  if (label.key === '') {
    throw new UsageError(`Cannot read label ${JSON.stringify(text)}: it has no key`, {
      code: 'BAD_LABEL',
      hint: 'write SOURCE:KEY=VALUE, KEY=VALUE or SOURCE:KEY',
    });
  }
  return { text, target: label, withValue: label.source === SOURCE_RESERVED || equals >= 0 };
}

/**
 * Reads several that one identity must satisfy together.
 * @throws {UsageError} BAD_LABEL when two of them want one key from two sources or with two values: no set has both
 */
export function parseLabelSelectors(texts: readonly string[]): LabelSelector[] {
  const selectors = texts.map(parseLabelSelector);
  const byKey = new Map<string, LabelSelector>();
  for (const selector of selectors) {
    const other = byKey.get(selector.target.key);
    if (other !== undefined && !agree(other, selector)) {
      throw new UsageError(
        `Cannot look for ${other.text} and ${selector.text} together: a label set has each key once`,
        {
          code: 'BAD_LABEL',
          hint: 'ask for one after the other',
        },
      );
    }
    byKey.set(selector.target.key, selector);
  }
  return selectors;
}

export function labelsSatisfy(labels: Labels, selectors: readonly LabelSelector[]): boolean {
  return selectors.every(({ target, withValue }) =>
    labels.some((label) => (withValue ? labelHas(label, target) : labelHasKey(label, target))),
  );
}

function agree(a: LabelSelector, b: LabelSelector): boolean {
  const sources = a.target.source === b.target.source || [a, b].some(({ target }) => target.source === SOURCE_ANY);
  return sources && (!a.withValue || !b.withValue || a.target.value === b.target.value);
}
