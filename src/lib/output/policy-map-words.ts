/** Who is hurt by a number that changes or goes, behind what happens to it. */

/** @returns `; in 2 policy maps`; nothing where there was nothing to count */
export function policyMapWords(count: number | null | undefined): string {
  if (count === undefined) return '';
  if (count === null) return '; in an unknown number of policy maps';
  return `; in ${count} policy map${count === 1 ? '' : 's'}`;
}
