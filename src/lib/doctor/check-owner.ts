/** Whose map it is, for people: see src/lib/owner for the rules. */
import type { Finding } from '../check/finding.ts';
import type { Ownership } from '../owner/decide-owner.ts';
import { evidenceLines } from '../owner/evidence.ts';

/** The owner, and every agent socket that does not answer. @param map names it: `/sys/fs/bpf/x` or `map id 7` */
export function checkOwnership(map: string, ownership: Ownership): Finding[] {
  const evidence = evidenceLines(ownership.evidence);
  return [
    { check: 'owner', ...OWNER[ownership.owner](map), ...(evidence.length > 0 && { evidence }) },
    ...ownership.evidence.sockets.flatMap(checkSocket),
  ];
}

type OwnerWords = Record<Ownership['owner'], (map: string) => Pick<Finding, 'severity' | 'message' | 'hint'>>;

const OWNER: OwnerWords = {
  agent: (map) => ({
    severity: 'info',
    message: `${map} belongs to an agent`,
    hint: 'everything reads; of what writes, ipc gc --against agent, and set, delete and restore with --override-owner',
  }),
  ipc: (map) => ({ severity: 'info', message: `${map} belongs to ipc` }),
  nobody: (map) => ({ severity: 'info', message: `${map} belongs to nobody that can be seen: ipc may write it` }),
  unknown: (map) => ({
    severity: 'low',
    message: `whose ${map} is cannot be seen from here`,
    hint: 'run as root in the pid namespace of the host; what writes refuses until then, or until --sole-writer',
  }),
};

function checkSocket({ path, state, pid }: Ownership['evidence']['sockets'][number]): Finding[] {
  const by = pid === undefined ? '' : ` (pid ${pid})`;
  switch (state) {
    case 'answers':
      return [{ check: 'agent', severity: 'info', message: `an agent answers on ${path}${by}` }];
    case 'silent':
      return [
        {
          check: 'agent',
          severity: 'medium',
          message: `${path} takes connections${by} and does not answer`,
          hint: 'look at the agent: is it starting, or does it hang?',
        },
      ];
    case 'refuses':
      return [
        {
          check: 'agent',
          severity: 'low',
          message: `${path} exists and nobody listens on it`,
          hint: `an agent that was killed leaves it; when none will start again: rm ${path}`,
        },
      ];
    case 'denied':
      return [{ check: 'agent', severity: 'low', message: `${path} may not be asked`, hint: 'run as root' }];
  }
}
