/** What was seen of whoever may be writing a map. Nothing here is concluded: see decide-owner.ts. */
import type { MapProcess } from '../bpf/map-processes.ts';
import type { Program } from '../bpf/prog-list.ts';

/**
 * An agent socket that exists. `answers`: something speaks HTTP there; `silent`: it takes connections and says nothing;
 * `refuses`: nobody listens any more, the file is left over; `denied`: it may not be asked.
 */
export interface AgentSocket {
  readonly path: string;
  readonly state: 'answers' | 'silent' | 'refuses' | 'denied';
  /** Of the listener, in our pid namespace; absent when it cannot be told. */
  readonly pid?: number;
}

export interface OwnerEvidence {
  /** Other processes that have the map open; those that are known to be `ipc` itself are left out. */
  readonly processes: readonly MapProcess[];
  /** Loaded programs that hold the map. */
  readonly programs: readonly Pick<Program, 'id' | 'name'>[];
  readonly sockets: readonly AgentSocket[];
  /** Another `ipc` that is writing this map now. */
  readonly ipc?: { readonly pid: number };
  /** The state directory names the pin of this map. */
  readonly statePin: boolean;
  /** What could not be seen, and why. */
  readonly unseen: readonly string[];
}

/** Programs of Cilium since 1.12 begin so (bpf/bpf_lxc.c and its siblings: cil_from_container …). */
export const CILIUM_PROGRAM_PREFIX = 'cil_';

/** One line for each thing that speaks for an agent, the strongest first. */
export function agentEvidence({ processes, programs, sockets }: OwnerEvidence): string[] {
  const lines: string[] = [];
  for (const { pid, comm, writes } of processes) {
    if (writes) lines.push(`process ${pid} (${comm}) holds the map read-write`);
  }
  for (const socket of sockets) {
    if (socket.state === 'answers') lines.push(`an agent answers on ${socket.path}${by(socket)}`);
  }
  for (const socket of sockets) {
    if (socket.state !== 'answers') lines.push(`${socket.path} exists ${SOCKET_WORDS[socket.state]}${by(socket)}`);
  }
  const cilium = programs.filter(({ name }) => name.startsWith(CILIUM_PROGRAM_PREFIX));
  if (cilium.length > 0) lines.push(programLine(cilium));
  return lines;
}

/** Everything that was seen, for `doctor` and `status`. */
export function evidenceLines(evidence: OwnerEvidence): string[] {
  const lines = agentEvidence(evidence);
  const others = evidence.programs.filter(({ name }) => !name.startsWith(CILIUM_PROGRAM_PREFIX));
  if (others.length > 0) lines.push(programLine(others));
  for (const { pid, comm, writes } of evidence.processes) {
    if (!writes) lines.push(`process ${pid} (${comm}) has the map open read-only`);
  }
  if (evidence.ipc !== undefined) lines.push(`another ipc is writing (pid ${evidence.ipc.pid})`);
  if (evidence.statePin) lines.push('the state directory names this pin');
  return [...lines, ...evidence.unseen];
}

const SOCKET_WORDS = {
  silent: 'and is silent',
  refuses: 'but nobody listens on it',
  denied: 'and may not be asked',
} as const;

function by({ pid }: AgentSocket): string {
  return pid === undefined ? '' : ` (pid ${pid})`;
}

/** `2 loaded programs hold the map: cil_from_contai, cil_to_container`, with the first few names. */
function programLine(programs: readonly Pick<Program, 'id' | 'name'>[]): string {
  const names = [...new Set(programs.map(({ id, name }) => name || `id ${id}`))];
  const shown = names.slice(0, 3).join(', ') + (names.length > 3 ? ', …' : '');
  return programs.length === 1
    ? `the loaded program ${shown} holds the map`
    : `${programs.length} loaded programs hold the map: ${shown}`;
}
