/** How `ipc identity` comes from its flags to the map, the checkpoints and the policy maps. */
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { bpffsRoots } from '../bpf/bpffs.ts';
import { parseMapRef } from '../bpf/map-ref.ts';
import { NotFoundError, ToolError, UsageError } from '../errors.ts';
import { DEFAULT_CHECKPOINT_PATH } from '../identity/checkpoint.ts';
import { CheckpointIndex } from '../identity/checkpoint-index.ts';
import { type IdentityUse, readMapUse, readSnapshotUse } from '../inventory/identity-use.ts';
import {
  checkpointStore,
  type IdentityStore,
  KnownIdentities,
  keepsIdentities,
  snapshotStore,
  stateStore,
} from '../inventory/known-identities.ts';
import type { InventoryPorts, PolicyRules } from '../inventory/take-inventory.ts';
import { LinuxKernel } from '../native/linux-kernel.ts';
import type { PolicyRule } from '../policymap/policy-rule.ts';
import { visitPolicyRules } from '../policymap/policy-use.ts';
import { openSnapshot } from '../snapshot/snapshot-reader.ts';
import { readCheckpoint as readState } from '../state/read-checkpoint.ts';
import type { Log } from './log.ts';
import type { SharedValues } from './shared-flags.ts';
import { useIpcache } from './use-ipcache.ts';

export interface UseIdentities {
  readonly shared: Pick<SharedValues, 'map' | 'bpffs' | 'layout' | 'state-dir'>;
  /** --allocator-state. */
  readonly allocatorState: string | undefined;
  /** The value of TC_BPF_MNT. */
  readonly tcBpfMnt: string | undefined;
  readonly logger: Log;
  readonly signal: AbortSignal;
  /** The answer hangs on every source: a missing or damaged one is then a failure. */
  readonly strict: boolean;
  readonly orphans: boolean;
  readonly confirmMs: number;
}

export class IdentitySources implements InventoryPorts {
  readonly #options: UseIdentities;
  readonly #snapshot: string | undefined;
  /** Where the map that was read last is pinned. */
  #pin: string | undefined;

  /** @throws {UsageError} NEEDS_MAP orphans of a snapshot; BAD_MAP_REF */
  constructor(options: UseIdentities) {
    this.#options = options;
    this.#snapshot = snapshotPath(options);
  }

  async readUse(wanted: ReadonlySet<number>): Promise<IdentityUse | null> {
    const { shared, tcBpfMnt, logger, signal, strict } = this.#options;
    const keep = (id: number) => wanted.has(id);
    if (this.#snapshot !== undefined) {
      await using reader = await openSnapshot(this.#snapshot);
      return await readSnapshotUse(reader, keep);
    }
    try {
      using ipcache = await useIpcache({ shared, tcBpfMnt, logger, signal });
      this.#pin = ipcache.map.path;
      return await readMapUse(ipcache, keep, signal);
    } catch (error) {
      if (strict || shared.map !== undefined || !(error instanceof ToolError)) throw error;
      logger.warn(`no entries counted: ${error.message}`);
      return null;
    }
  }

  /** @throws {NotFoundError} CHECKPOINT_NOT_FOUND when orphans are looked for and nothing speaks for the map */
  async readKnown(): Promise<KnownIdentities> {
    const { shared, orphans } = this.#options;
    const unread: ToolError[] = [];
    const allocator = this.#lenient(unread, () => this.#readAllocator());
    const state = this.#lenient(unread, () => readState(shared['state-dir']));
    const speaks = state !== undefined && state.pin === this.#pin && keepsIdentities(state);
    if (orphans && allocator === undefined && !speaks) throw this.#noCheckpoint();
    const stores = [allocator, state && stateStore(state)].filter((store) => store !== undefined);
    if (this.#snapshot !== undefined) {
      await using reader = await openSnapshot(this.#snapshot);
      stores.push(snapshotStore(reader.identities));
    }
    return new KnownIdentities(stores, unread);
  }

  async readPolicy(ids: ReadonlySet<number> | undefined): Promise<PolicyRules> {
    const { shared, tcBpfMnt, logger, signal } = this.#options;
    const mountinfo = readFileSync('/proc/self/mountinfo', 'utf8');
    const roots = bpffsRoots({ bpffs: shared.bpffs, tcBpfMnt, mountinfo });
    const rules = new Map<number, PolicyRule[]>();
    const reading = await visitPolicyRules({ kernel: new LinuxKernel(), roots, ids, signal }, (rule) => {
      const known = rules.get(rule.identity);
      if (known === undefined) rules.set(rule.identity, [rule]);
      else known.push(rule);
    });
    logger.debug(`read ${reading.maps} policy maps below ${roots.join(', ')}`);
    return { rules, problems: reading.problems };
  }

  async wait(candidates: number): Promise<void> {
    const { confirmMs, logger, signal } = this.#options;
    logger.info(`local numbers in no checkpoint: ${candidates}; reading again in ${confirmMs / 1000} s`);
    // A signal ends the command with a status of its own; the timer's error would hide it.
    await setTimeout(confirmMs, undefined, { signal }).catch(() => undefined);
    signal.throwIfAborted();
  }

  #readAllocator(): IdentityStore | undefined {
    const { allocatorState, logger } = this.#options;
    const index = CheckpointIndex.read(allocatorState ?? DEFAULT_CHECKPOINT_PATH);
    if (index === undefined && allocatorState !== undefined) logger.warn(`there is no file ${allocatorState}`);
    return index && checkpointStore(index);
  }

  /** A damaged file costs its labels and a warning where the answer does not hang on it; what was wrong goes to `unread`. */
  #lenient<Value>(unread: ToolError[], read: () => Value | undefined): Value | undefined {
    try {
      return read();
    } catch (error) {
      if (this.#options.strict || !(error instanceof ToolError)) throw error;
      this.#options.logger.warn(error.message, error.operands);
      unread.push(error);
      return undefined;
    }
  }

  #noCheckpoint(): NotFoundError {
    const path = this.#options.allocatorState ?? DEFAULT_CHECKPOINT_PATH;
    return new NotFoundError(`Cannot look for orphans: there is no allocator checkpoint ${path}`, {
      code: 'CHECKPOINT_NOT_FOUND',
      hint: 'without it every local number looks like one; name it with --allocator-state',
      operands: { path },
    });
  }
}

function snapshotPath({ shared, orphans }: UseIdentities): string | undefined {
  const ref = shared.map === undefined ? undefined : parseMapRef(shared.map);
  if (ref?.kind !== 'file') return undefined;
  if (!orphans) return ref.path;
  throw new UsageError(`Cannot look for orphans in ${ref.path}: a snapshot does not change between two readings`, {
    code: 'NEEDS_MAP',
    hint: 'name the live map',
  });
}
