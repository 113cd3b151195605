/** What the words after `ipc identity` ask for. */
import { UsageError } from '../errors.ts';
import { type LabelSelector, parseLabelSelectors } from '../identity/label-selector.ts';
import { parseNumericIdentity } from '../identity/numeric-identity.ts';
import { IDENTITY_UNKNOWN, RESERVED_ROWS, reservedByName } from '../identity/reserved.ts';
import { wellKnownByName } from '../identity/well-known.ts';

export interface IdentityQuery {
  /** Numbers asked for by number or by name, each once. */
  readonly ids: readonly number[];
  /** Labels that an identity must have all of. */
  readonly selectors: readonly LabelSelector[];
}

/**
 * Words that begin with a digit are numbers, words with `:`, `=` or `$` are labels, all others are names.
 * @throws {UsageError} BAD_IDENTITY, BAD_LABEL
 */
export function parseIdentityQuery(words: readonly string[]): IdentityQuery {
  const ids = new Set<number>();
  const labels: string[] = [];
  for (const word of words) {
    if (/^[0-9]+$/.test(word) || /^0[xXoObB][0-9a-fA-F_]+$/.test(word)) ids.add(parseNumericIdentity(word));
    else if (/[:=$]/.test(word) || word === '') labels.push(word);
    else for (const id of idsOfName(word)) ids.add(id);
  }
  return { ids: [...ids], selectors: parseLabelSelectors(labels) };
}

function idsOfName(name: string): readonly number[] {
  if (name === 'unknown') return [IDENTITY_UNKNOWN];
  const reserved = reservedByName(name);
  if (reserved !== undefined) return [reserved];
  const wellKnown = wellKnownByName(name);
  if (wellKnown !== undefined) return wellKnown;
  throw new UsageError(`Cannot find identity ${JSON.stringify(name)}: no number is called that`, {
    code: 'BAD_IDENTITY',
    hint: `a label has a colon or an equals sign; names are ${RESERVED_ROWS.map((row) => row.name).join(', ')}`,
  });
}
