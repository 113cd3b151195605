/** What may be done to whose map, as one table. Reading is always allowed and not in it. */

/**
 * `recreate`: any command that puts a new map in the place of the pinned one. `gc-agent`: gc against the agent itself.
 * `hand-over`: a restore for an agent that starts next.
 */
export type Operation =
  | 'set'
  | 'delete'
  | 'restore'
  | 'recreate'
  | 'release'
  | 'gc'
  | 'gc-agent'
  | 'listen'
  | 'hand-over';

export interface OperationRule {
  /** On an agent's map: `no`; `override`: with --override-owner; `not-alive`: unless the agent runs; `yes`. */
  readonly onAgent: 'no' | 'override' | 'not-alive' | 'yes';
  /** Wherever programs or processes hold the map: only with --programs-will-reload, whoever owns it. */
  readonly leavesUsers: boolean;
  /** Completes *Cannot ... PIN*. */
  readonly action: string;
  /** What to run instead on an agent's map. */
  readonly instead: string;
}

const KEEPS = { leavesUsers: false };

export const OPERATIONS: Readonly<Record<Operation, OperationRule>> = {
  set: {
    ...KEEPS,
    onAgent: 'override',
    action: 'set entries of',
    instead:
      'give the agent what it should write (a policy, a CIDR group, a node), or say --override-owner: the agent does not know of the entry and will not repair it',
  },
  delete: {
    ...KEEPS,
    onAgent: 'override',
    action: 'delete entries of',
    instead:
      'ipc gc --against agent deletes what the agent does not have; --override-owner deletes this all the same, and the agent puts it back only when it restarts',
  },
  restore: {
    ...KEEPS,
    onAgent: 'override',
    action: 'restore into',
    instead:
      'ipc restore --dry-run shows what is missing; --hand-over prepares the map before the agent starts; --override-owner writes beside it',
  },
  recreate: {
    leavesUsers: true,
    onAgent: 'no',
    action: 'recreate',
    instead: 'restore in place, without --recreate, or restart the agent: it makes a new map itself',
  },
  release: {
    ...KEEPS,
    onAgent: 'no',
    action: 'release placeholders from',
    instead: 'the agent releases its own; ipc status shows what ipc still remembers',
  },
  gc: {
    ...KEEPS,
    onAgent: 'no',
    action: 'collect garbage in',
    instead: 'ipc gc --against agent compares with the agent itself',
  },
  'gc-agent': { ...KEEPS, onAgent: 'yes', action: 'collect garbage in', instead: '' },
  listen: {
    ...KEEPS,
    onAgent: 'no',
    action: 'feed',
    instead: 'the agent feeds this one; listen needs a map of its own: --map PIN',
  },
  'hand-over': {
    ...KEEPS,
    onAgent: 'not-alive',
    action: 'prepare for the next agent',
    instead: 'stop the agent first; while it runs it keeps these numbers itself',
  },
};
