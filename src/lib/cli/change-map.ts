/** How commands that write come to their map: opened, its owner known, and nobody else of us writing. */
import { dirname } from 'node:path';
import type { PlanMap } from '../change/plan-item.ts';
import { LockedError } from '../errors.ts';
import type { IpcacheMap } from '../ipcache/ipcache-map.ts';
import { checkOwner, type OwnerFlags } from '../owner/check-owner.ts';
import type { Ownership } from '../owner/decide-owner.ts';
import type { Operation } from '../owner/operations.ts';
import { lockState, readLockHolder, type StateLock } from '../state/lock.ts';
import { openState, type State } from '../state/state.ts';
import type { Log } from './log.ts';
import type { SharedValues } from './shared-flags.ts';
import { useIpcache } from './use-ipcache.ts';
import { useOwner } from './use-owner.ts';

export interface ChangeMapOptions {
  readonly shared: SharedValues;
  /** Values of TC_BPF_MNT and CILIUM_SOCK. */
  readonly tcBpfMnt: string | undefined;
  readonly agentSocket: string | undefined;
  readonly soleWriter: boolean;
  /** The map is opened for reading, and no lock is taken. */
  readonly dryRun: boolean;
  /** Opens what is remembered of this pin as well. */
  readonly withState?: boolean;
  readonly logger: Log;
  readonly signal: AbortSignal;
}

export class ChangeMap implements Disposable {
  readonly ipcache: IpcacheMap;
  readonly ownership: Ownership;
  /** Absent in a dry run. */
  readonly lock: StateLock | undefined;
  /** Absent unless it was asked for, in a dry run, and for a map without a pin. */
  readonly state: State | undefined;

  constructor(ipcache: IpcacheMap, ownership: Ownership, held: { readonly lock?: StateLock; readonly state?: State }) {
    this.ipcache = ipcache;
    this.ownership = ownership;
    this.lock = held.state?.lock ?? held.lock;
    this.state = held.state;
  }

  /** The map as reports name it. */
  get facts(): PlanMap {
    const { map, layout } = this.ipcache;
    const { owner, evidence } = this.ownership;
    const programs = evidence.programs.length;
    return {
      id: map.info.id,
      ...(map.path !== undefined && { pin: map.path }),
      layout: layout.name,
      owner,
      programs: programs === 0 && evidence.unseen.length > 0 ? null : programs,
    };
  }

  /** To be asked once it is known that there is something to write. @throws {RefusedError} */
  requireOwner(operation: Operation, flags: OwnerFlags = {}): void {
    const refusal = checkOwner(operation, this.ipcache.map.label, this.ownership, flags);
    if (refusal !== undefined) throw refusal;
  }

  [Symbol.dispose](): void {
    this.lock?.[Symbol.dispose]();
    this.ipcache[Symbol.dispose]();
  }
}

/** @throws what useIpcache throws @throws {LockedError} */
export async function changeMap(options: ChangeMapOptions): Promise<ChangeMap> {
  const { shared, tcBpfMnt, agentSocket, soleWriter, dryRun, logger, signal } = options;
  const ipcache = await useIpcache({ shared, tcBpfMnt, logger, signal, write: !dryRun });
  try {
    const { map } = ipcache;
    const ownership = await useOwner({ map, shared, agentSocket, soleWriter, logger });
    return new ChangeMap(ipcache, ownership, hold(map.path, options));
  } catch (error) {
    ipcache[Symbol.dispose]();
    throw error;
  }
}

function hold(pin: string | undefined, { shared, dryRun, withState = false }: ChangeMapOptions) {
  const directory = shared['state-dir'];
  if (dryRun) {
    requireUnlocked(directory);
    return {};
  }
  if (withState && pin !== undefined) return { state: openState({ directory, pin }) };
  return { lock: lockState({ directory, ...(pin !== undefined && { pinDirectory: dirname(pin) }) }) };
}

function requireUnlocked(directory: string): void {
  const holder = readLockHolder(directory);
  if (holder === undefined) return;
  throw new LockedError(`Cannot lock ${directory}: ${holder.command ?? 'a process'} (pid ${holder.pid}) holds it`, {
    hint: 'one ipc at a time may write; wait for it to end, or stop it',
    operands: { path: directory, pid: holder.pid },
  });
}
