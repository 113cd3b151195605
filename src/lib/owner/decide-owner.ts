/**
 * Whose map it is. An agent keeps what it wrote in memory and does not repair its map, so a write beside a live one is
 * wrong until that agent restarts: whatever speaks for an agent weighs more than all else, and what cannot be seen is
 * not assumed to be absent.
 */
import { agentEvidence, evidenceLines, type OwnerEvidence } from './evidence.ts';

/** `unknown`: nothing was seen, but not everything could be. */
export type Owner = 'agent' | 'ipc' | 'nobody' | 'unknown';

export interface Ownership {
  readonly owner: Owner;
  /** What the decision rests on, one sentence each, without a period; the strongest first. */
  readonly reasons: readonly string[];
  /** An agent is running, not only its programs or its stale socket. */
  readonly agentAlive: boolean;
  /** Of the process that the first reason names. */
  readonly pid?: number;
  /** All that was seen. */
  readonly evidence: OwnerEvidence;
}

/**
 * Decides from what was seen.
 * @param soleWriter the user says that nothing out of sight writes the map; it does not outweigh what is in sight
 */
export function decideOwner(evidence: OwnerEvidence, { soleWriter = false } = {}): Ownership {
  const agent = agentEvidence(evidence);
  const writer = evidence.processes.find(({ writes }) => writes);
  const alive = evidence.sockets.find(({ state }) => state !== 'refuses');
  const agentAlive = writer !== undefined || alive !== undefined;
  if (agent.length > 0) {
    const pid = writer?.pid ?? alive?.pid;
    return { owner: 'agent', reasons: agent, agentAlive, evidence, ...(pid === undefined ? {} : { pid }) };
  }
  const { ipc, statePin, unseen } = evidence;
  const shared = { agentAlive, evidence };
  if (unseen.length > 0 && !soleWriter) return { owner: 'unknown', reasons: unseen, ...shared };
  if (ipc !== undefined) return { owner: 'ipc', reasons: evidenceLines(evidence), pid: ipc.pid, ...shared };
  return { owner: statePin ? 'ipc' : 'nobody', reasons: evidenceLines(evidence), ...shared };
}
