/**
 * Which of several ipcache pins is the live one. A node that crossed Cilium 1.17 → 1.18 or back has both pins, and
 * after a downgrade the stale one has the newer name: so who has them open decides, never the name.
 */
import { AmbiguousError } from '../errors.ts';
import type { MapUsers, MapUsersReport } from './map-users.ts';

export interface PinCandidate {
  readonly path: string;
  readonly mapId: number;
}

export interface PinChoice extends PinCandidate {
  /** Why this one, as a sentence without a period, to be printed. */
  readonly reason: string;
  /** The other pins and what was seen of their users. */
  readonly others: readonly (PinCandidate & { readonly evidence: string })[];
}

const NOBODY: MapUsers = { programs: [], processes: [] };

/**
 * Chooses by the first question that exactly one candidate answers with yes: does a process hold it read-write, do
 * loaded programs use it. @param candidates two or more pins of different maps.
 * @throws {AmbiguousError} AMBIGUOUS_PIN, listing every candidate with the evidence.
 */
export function pickPin(candidates: readonly PinCandidate[], users: MapUsersReport): PinChoice {
  const usersOf = ({ mapId }: PinCandidate) => users.byMap.get(mapId) ?? NOBODY;
  const written = candidates.filter((candidate) => usersOf(candidate).processes.some(({ writes }) => writes));
  const used = candidates.filter((candidate) => usersOf(candidate).programs.length > 0);
  const chosen = only(written) ?? only(used);
  const describe = (candidate: PinCandidate) => describeUsers(usersOf(candidate), users);
  if (chosen === undefined) throw undecided(candidates, describe);
  return {
    ...chosen,
    reason: describe(chosen),
    others: candidates.filter((other) => other !== chosen).map((other) => ({ ...other, evidence: describe(other) })),
  };
}

/** One line on who uses a map: `process 812 (cilium-agent) has it open read-write, 12 programs use it`. */
export function describeUsers({ programs, processes }: MapUsers, report: MapUsersReport): string {
  const parts: string[] = [];
  for (const { pid, comm, writes } of processes) {
    parts.push(`process ${pid} (${comm}) has it open ${writes ? 'read-write' : 'read-only'}`);
  }
  if (processes.length === 0) {
    parts.push(
      report.processesUnseen === undefined ? 'no process has it open' : `no process seen (${report.processesUnseen})`,
    );
  }
  if (report.programsUnseen !== undefined) parts.push(report.programsUnseen);
  else if (programs.length === 0) parts.push('no program uses it');
  else parts.push(programs.length === 1 ? '1 program uses it' : `${programs.length} programs use it`);
  return parts.join(', ');
}

function undecided(candidates: readonly PinCandidate[], describe: (one: PinCandidate) => string): AmbiguousError {
  const lines = candidates.map((one) => `${one.path} (id ${one.mapId}): ${describe(one)}`);
  return new AmbiguousError(`Cannot choose between ${candidates.length} ipcache pins: ${lines.join('; ')}`, {
    code: 'AMBIGUOUS_PIN',
    hint: `name one with --map, for example --map ${candidates[0]?.path ?? 'PIN'}`,
    operands: { candidates: lines },
  });
}

function only<T>(list: readonly T[]): T | undefined {
  return list.length === 1 ? list[0] : undefined;
}
