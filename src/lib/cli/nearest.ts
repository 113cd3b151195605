import type * as Levenshtein from 'fastest-levenshtein';

/** The known name that was probably meant, or undefined when none is near enough to be worth suggesting. */
export function nearestName(given: string, known: Iterable<string>): string | undefined {
  const { distance } = require('fastest-levenshtein') as typeof Levenshtein;
  const wanted = given.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(given.length / 3)) + 1;
  for (const name of known) {
    const d = name.startsWith(wanted) && wanted.length > 1 ? 1 : distance(wanted, name.toLowerCase());
    if (d < bestDistance) {
      best = name;
      bestDistance = d;
    }
  }
  return best;
}

/** "did you mean X?", or what to say instead. */
export function suggestion(nearest: string | undefined, otherwise: string): string {
  return nearest === undefined ? otherwise : `did you mean ${nearest}? (${otherwise})`;
}
