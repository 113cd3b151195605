/** Brings what a case lists and what we did into a form in which they can be compared. */

/** The marks by which upstream's two APIs share an entry; ours keeps every owner's value instead. */
const MARKS: ReadonlySet<string> = new Set(['overwrittenLegacySource', 'modifiedByLegacyAPI', 'shadowed']);

/** Texts of errors are informational; whether there is one is not. Logs are left out. */
export function comparable(value: unknown): unknown {
  return sorted(value, () => true);
}

export function withoutMarks(value: unknown): unknown {
  return sorted(value, (key) => !MARKS.has(key));
}

/** A copy with the members of every object in one order. */
function sorted(value: unknown, keep: (key: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => sorted(item, keep));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value)
    .filter(([key, member]) => key !== 'logs' && member !== undefined && keep(key))
    .map(([key, member]) => [key, isErrorText(key, member) ? 'an error' : sorted(member, keep)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members);
}

function isErrorText(key: string, value: unknown): boolean {
  return (key === 'error' || key === 'injectError') && typeof value === 'string';
}
