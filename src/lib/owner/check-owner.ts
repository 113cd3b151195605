/** Says no to a write on somebody else's map, with the reason, the process and what to run instead. */
import { RefusedError } from '../errors.ts';
import type { Ownership } from './decide-owner.ts';
import { OPERATIONS, type Operation, type OperationRule } from './operations.ts';

export interface OwnerFlags {
  readonly overrideOwner?: boolean;
  readonly programsWillReload?: boolean;
}

/**
 * Whether the operation may write the map. Commands that find nothing to write need not ask.
 * @param map names it in the message: `/sys/fs/bpf/x` or `map id 7`
 * @returns undefined when it may; otherwise the error to throw, code OWNED_BY_AGENT, OWNER_UNKNOWN or MAP_IN_USE
 */
export function checkOwner(
  operation: Operation,
  map: string,
  ownership: Ownership,
  flags: OwnerFlags = {},
): RefusedError | undefined {
  const rule = OPERATIONS[operation];
  const { owner, agentAlive } = ownership;
  const overridden = rule.onAgent === 'override' && flags.overrideOwner === true;
  if (owner === 'agent') {
    const allowed = rule.onAgent === 'yes' || overridden || (rule.onAgent === 'not-alive' && !agentAlive);
    if (!allowed) return ownedByAgent(rule, map, ownership);
  }
  if (owner === 'unknown' && rule.onAgent !== 'yes' && !overridden) return unknownOwner(rule, map, ownership);
  if (rule.leavesUsers && flags.programsWillReload !== true) return inUse(rule, map, ownership);
  return undefined;
}

/** As `checkOwner`. @throws {RefusedError} */
export function requireOwner(operation: Operation, map: string, ownership: Ownership, flags?: OwnerFlags): void {
  const refusal = checkOwner(operation, map, ownership, flags);
  if (refusal !== undefined) throw refusal;
}

function ownedByAgent({ action, instead }: OperationRule, map: string, { reasons, pid }: Ownership): RefusedError {
  return new RefusedError(`Cannot ${action} ${map}: it belongs to an agent: ${reasons.join('; ')}`, {
    code: 'OWNED_BY_AGENT',
    hint: instead,
    operands: { owner: 'agent', reasons, ...(pid === undefined ? {} : { pid }) },
  });
}

function unknownOwner({ action }: OperationRule, map: string, { reasons }: Ownership): RefusedError {
  return new RefusedError(`Cannot ${action} ${map}: whose it is cannot be seen from here: ${reasons.join('; ')}`, {
    code: 'OWNER_UNKNOWN',
    hint: 'run it as root in the pid namespace of the host, or say --sole-writer when nothing else writes this map',
    operands: { owner: 'unknown', reasons },
  });
}

function inUse({ action }: OperationRule, map: string, { evidence }: Ownership): RefusedError | undefined {
  const { programs, processes } = evidence;
  const holders: string[] = [];
  if (programs.length > 0) holders.push(count(programs.length, 'loaded program'));
  if (processes.length > 0) {
    const named = processes.map(({ pid, comm }) => `${pid} (${comm})`).join(', ');
    holders.push(`${processes.length === 1 ? 'process' : 'processes'} ${named}`);
  }
  if (holders.length === 0) return undefined;
  const first = processes[0]?.pid;
  return new RefusedError(
    `Cannot ${action} ${map}: it is in use, and its users would keep the old map: ${holders.join(', ')}`,
    {
      code: 'MAP_IN_USE',
      hint: 'restore in place, or say --programs-will-reload when every program is loaded again afterwards',
      operands: { programs: programs.length, ...(first === undefined ? {} : { pid: first }) },
    },
  );
}

function count(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`;
}
