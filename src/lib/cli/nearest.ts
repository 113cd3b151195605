import type * as Levenshtein from 'fastest-levenshtein';

/** The known name that was probably meant, or undefined when none is near enough to be worth suggesting. */
export function nearestName(given: string, known: Iterable<string>): string | undefined {
  const { distance } = require('fastest-levenshtein') as typeof Levenshtein;
  const wanted = given.toLowerCase();
  const cost = (name: string): number => {
    if (wanted.length > 1 && (name.startsWith(wanted) || sortedLetters(name) === sortedLetters(wanted))) return 1;
    return distance(wanted, name);
  };
  let best: string | undefined;
  let bestCost = Math.max(1, Math.floor(given.length / 3)) + 1;
  for (const name of known) {
    const nameCost = cost(name.toLowerCase());
    if (nameCost >= bestCost) continue;
    best = name;
    bestCost = nameCost;
  }
  return best;
}

/** "did you mean X?", or what to say instead. */
export function suggestion(nearest: string | undefined, otherwise: string): string {
  return nearest === undefined ? otherwise : `did you mean ${nearest}? (${otherwise})`;
}

/** Equal for two words that differ by exchanged letters, which count twice in an edit distance. */
function sortedLetters(word: string): string {
  return [...word].sort().join('');
}
