/** In how many policy maps of this machine a number stands that some prefix lost: who is hurt. */
import type { Findings } from '../diff/judge.ts';
import type { PolicyMapCount } from '../output/diff-view.ts';
import { readMachineFacts } from '../snapshot/machine-facts.ts';
import { type PolicyMapOptions, policyMapCounter } from './policy-map-counts.ts';

/** @returns undefined where there is nothing to count: another machine, no policy maps, or no number that was lost */
export async function countPolicyMaps(
  findings: Findings,
  options: PolicyMapOptions,
): Promise<PolicyMapCount | undefined> {
  const ids = lostNumbers(findings);
  const { machine } = readMachineFacts();
  if (ids.size === 0 || findings.comparison.after.header.machine !== machine) return undefined;
  return policyMapCounter(ids, options);
}

function lostNumbers(findings: Findings): Set<number> {
  const ids = new Set<number>(findings.identities.map(({ relabelled }) => relabelled.identity));
  if (findings.counts.renumbered + findings.counts.removed + findings.counts['cidr-label-lost'] === 0) return ids;
  for (const { change } of findings.entries()) {
    const { before, after } = change;
    if (before !== undefined && before.identity !== after?.identity) ids.add(before.identity);
  }
  return ids;
}
