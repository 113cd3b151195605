import type { Findings } from '../diff/judge.ts';
import { readMachineFacts } from '../snapshot/machine-facts.ts';
import { type PolicyMapCounter, type PolicyMapOptions, policyMapCounter } from './policy-map-counts.ts';

/**
 * Counts in how many policy maps the numbers stand that some prefix lost.
 * @returns undefined where there is nothing to count: another machine, no policy maps, or no number that was lost
 */
export async function countPolicyMaps(
  findings: Findings,
  options: PolicyMapOptions,
): Promise<PolicyMapCounter | undefined> {
  const { machine } = readMachineFacts();
  if (findings.comparison.after.header.machine !== machine) return undefined;
  return policyMapCounter(lostNumbers(findings), options);
}

function lostNumbers(findings: Findings): Set<number> {
  const ids = new Set<number>(findings.identities.map(({ relabelled }) => relabelled.identity));
  const { renumbered, removed, 'cidr-label-lost': lost } = findings.counts;
  if (renumbered + removed + lost === 0) return ids;
  for (const { change } of findings.entries()) {
    const { before, after } = change;
    if (before !== undefined && before.identity !== after?.identity) ids.add(before.identity);
  }
  return ids;
}
