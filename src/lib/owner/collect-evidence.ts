/** Looks for whoever may be writing a map: processes, programs, agent sockets, our own locks and state. */
import { closeSync, openSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { findMapUsers } from '../bpf/map-users.ts';
import type { Kernel } from '../native/kernel.ts';
import { readLockHolder } from '../state/lock.ts';
import { findLockHolder } from '../state/lock-holder.ts';
import { readStatePin } from '../state/read-state-pin.ts';
import { isSamePin } from '../state/same-pin.ts';
import { askAgentSocket, DEFAULT_AGENT_SOCKET } from './agent-socket.ts';
import type { AgentSocket, OwnerEvidence } from './evidence.ts';

export interface CollectOptions {
  readonly kernel: Kernel;
  readonly mapId: number;
  /** Absent for a map without a name. */
  readonly pin?: string;
  readonly stateDirectory: string;
  /** The value of CILIUM_SOCK, a path or `unix://PATH`; the usual socket is asked as well. */
  readonly agentSocket?: string;
  /** How long a silent socket is waited for. */
  readonly timeoutMs?: number;
  readonly procRoot?: string;
}

const SOCKET_TIMEOUT_MS = 1000;

/** Takes no lock and opens nothing for writing. @throws {ToolError} only where the kernel fails unexpectedly */
export async function collectOwnerEvidence(options: CollectOptions): Promise<OwnerEvidence> {
  const { kernel, mapId, pin, stateDirectory, procRoot } = options;
  const sockets = await askSockets(options);
  const report = findMapUsers([mapId], { kernel, procRoot });
  const users = report.byMap.get(mapId);
  const own = ownWriters(stateDirectory, pin);
  const statePin = pin === undefined ? undefined : readStatePin(stateDirectory);
  const ipc = (users?.processes ?? []).find(({ pid, writes }) => writes && own.has(pid));
  return {
    processes: (users?.processes ?? []).filter(({ pid }) => !own.has(pid)),
    programs: users?.programs ?? [],
    sockets,
    statePin: pin !== undefined && statePin !== undefined && isSamePin(pin, statePin),
    unseen: [report.processesUnseen, report.programsUnseen].filter((reason) => reason !== undefined),
    ...(ipc === undefined ? {} : { ipc: { pid: ipc.pid } }),
  };
}

/** Processes that hold one of our locks: an `ipc` that writes is not an agent. */
function ownWriters(stateDirectory: string, pin: string | undefined): ReadonlySet<number> {
  const holders = [readLockHolder(stateDirectory), pin === undefined ? undefined : directoryLockHolder(dirname(pin))];
  return new Set(holders.flatMap((holder) => (holder === undefined ? [] : [holder.pid])));
}

function directoryLockHolder(directory: string) {
  let fd: number;
  try {
    fd = openSync(directory, 'r');
  } catch {
    return undefined;
  }
  try {
    return findLockHolder(fd);
  } finally {
    closeSync(fd);
  }
}

async function askSockets({ agentSocket, timeoutMs = SOCKET_TIMEOUT_MS }: CollectOptions): Promise<AgentSocket[]> {
  const paths = new Map<string, string>();
  const named = agentSocket?.replace(/^unix:(?:\/\/)?/, '');
  for (const path of named === undefined ? [DEFAULT_AGENT_SOCKET] : [named, DEFAULT_AGENT_SOCKET]) {
    const real = resolved(path);
    if (!paths.has(real)) paths.set(real, path);
  }
  const answers = await Promise.all([...paths.values()].map((path) => askAgentSocket(path, timeoutMs)));
  return answers.filter((answer) => answer !== undefined);
}

function resolved(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
