/** One round of `ipc doctor`: every check, in a fixed order. */
import { readFileSync } from 'node:fs';
import type { MapRef } from '../bpf/map-ref.ts';
import { openIpcacheMap } from '../bpf/open-ipcache-map.ts';
import type { Finding } from '../check/finding.ts';
import { ToolError } from '../errors.ts';
import type { Kernel } from '../native/kernel.ts';
import { collectOwnerEvidence } from '../owner/collect-evidence.ts';
import { decideOwner, type Owner } from '../owner/decide-owner.ts';
import { checkAllocator } from './check-allocator.ts';
import { type BpffsCheckOptions, checkBpffs } from './check-bpffs.ts';
import { checkFeatures } from './check-features.ts';
import { checkMaps } from './check-maps.ts';
import { checkOwnership } from './check-owner.ts';
import { checkPermissions } from './check-permissions.ts';
import { checkState } from './check-state.ts';
import { collectMaps, type NodeMaps } from './collect-maps.ts';

export interface ExamineOptions extends Omit<BpffsCheckOptions, 'mountinfo'> {
  readonly kernel: Kernel;
  /** The map in question; absent: the one that every command would use. */
  readonly ref?: MapRef | undefined;
  readonly stateDirectory: string;
  readonly allocatorState: string;
  /** CILIUM_SOCK */
  readonly agentSocket?: string | undefined;
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The map that commands work on. */
export interface Target {
  readonly id: number;
  readonly pin?: string;
  readonly layout?: string;
  readonly owner: Owner;
  /** Undefined: programs cannot be listed. */
  readonly programs?: number;
}

export interface Examination {
  readonly target?: Target;
  readonly node: NodeMaps;
  readonly findings: readonly Finding[];
  /** Everything could be seen. */
  readonly complete: boolean;
}

/**
 * Changes nothing; reads every ipcache map once.
 * @throws {ToolError} only when `ref` names a map that cannot be opened
 */
export async function examineNode(options: ExamineOptions): Promise<Examination> {
  const { kernel, signal, stateDirectory, allocatorState, now } = options;
  const bpffs = checkBpffs({ ...options, mountinfo: readText('/proc/self/mountinfo') });
  const node = await collectMaps({ kernel, roots: bpffs.roots, signal });
  const chosen = chooseTarget(options);
  const evidence =
    chosen.id === undefined
      ? undefined
      : await collectOwnerEvidence({
          kernel,
          mapId: chosen.id,
          stateDirectory,
          ...(chosen.pin !== undefined && { pin: chosen.pin }),
          ...(options.agentSocket !== undefined && { agentSocket: options.agentSocket }),
        });
  const ownership = evidence && decideOwner(evidence);
  const map = node.maps.find(({ id }) => id === chosen.id);
  const findings = [
    ...bpffs.findings,
    ...checkMaps(node),
    ...chosen.findings,
    ...(ownership ? checkOwnership(chosen.pin ?? `map id ${chosen.id}`, ownership) : []),
    checkAllocator(allocatorState, now),
    ...checkState({ directory: stateDirectory, pin: chosen.pin }),
    ...checkPermissions({ kernel, pin: chosen.pin, stateDirectory }),
    ...checkFeatures(kernel),
  ];
  const complete = node.unseen.length === 0 && node.maps.every(({ entries }) => entries !== undefined);
  if (chosen.id === undefined || ownership === undefined) return { node, findings, complete };
  const target: Target = {
    id: chosen.id,
    owner: ownership.owner,
    ...(chosen.pin !== undefined && { pin: chosen.pin }),
    ...(map?.layout !== undefined && { layout: map.layout }),
    ...(map?.programs !== undefined && { programs: map.programs.length }),
  };
  return { target, node, findings, complete };
}

interface Chosen {
  readonly id?: number;
  readonly pin?: string;
  readonly findings: readonly Finding[];
}

/** What every other command would work on, and why; that they would all fail is a finding. */
function chooseTarget({ ref, kernel, bpffs, tcBpfMnt }: ExamineOptions): Chosen {
  try {
    const { map, choice } = openIpcacheMap(ref, { kernel, bpffs, tcBpfMnt });
    using _ = map;
    const { id } = map.info;
    const pin = map.path;
    if (choice === undefined || choice.others.length === 0)
      return { id, ...(pin !== undefined && { pin }), findings: [] };
    const others = choice.others.map((other) => `${other.path} (id ${other.mapId}): ${other.evidence}`);
    const message = `of ${choice.others.length + 1} ipcache pins ${choice.path} is used: ${choice.reason}`;
    const finding: Finding = { check: 'pin-choice', severity: 'info', message, evidence: others };
    return { id, pin: choice.path, findings: [finding] };
  } catch (error) {
    if (ref !== undefined || !(error instanceof ToolError)) throw error;
    const { message, code } = error;
    const hint = code === 'MAP_NOT_FOUND' ? 'a map without a pin is read with --map id:N' : error.hint;
    return { findings: [{ check: 'pin-choice', severity: 'high', message, ...(hint !== undefined && { hint }) }] };
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
