/** Texts that very many records share, such as namespaces, as one string each. */

/** More than any cluster has namespaces; a flood of different texts must not grow this for ever. */
const MOST_TEXTS = 16_384;

const pool = new Map<string, string>();

/** The same text, as the string that was seen first. */
export function pooledText(text: string): string {
  const known = pool.get(text);
  if (known !== undefined) return known;
  if (pool.size >= MOST_TEXTS) pool.clear();
  pool.set(text, text);
  return text;
}
