/** The numbers of this node that are written down somewhere: in the agent's checkpoint, or in our own state of the map. */
import { NotFoundError } from '../errors.ts';
import { DEFAULT_CHECKPOINT_PATH } from '../identity/checkpoint.ts';
import { CheckpointIndex } from '../identity/checkpoint-index.ts';
import { readCheckpoint } from '../state/read-checkpoint.ts';
import { isSamePin } from '../state/same-pin.ts';
import { checkpointStore, keepsIdentities, stateStore } from './known-identities.ts';

export interface KnownNumbersOptions {
  /** Absent: where the agent keeps it. */
  readonly allocatorState?: string | undefined;
  readonly stateDirectory: string;
  /** Our state counts only if it is of this map. */
  readonly pin?: string | undefined;
}

/** @throws {NotFoundError} CHECKPOINT_NOT_FOUND: there is neither @throws {MalformedError} one of them is damaged */
export function readKnownNumbers({ allocatorState, stateDirectory, pin }: KnownNumbersOptions): ReadonlySet<number> {
  const path = allocatorState ?? DEFAULT_CHECKPOINT_PATH;
  const index = CheckpointIndex.read(path);
  const state = readCheckpoint(stateDirectory);
  const ours = state !== undefined && pin !== undefined && isSamePin(pin, state.pin) ? state : undefined;
  if (index === undefined && (ours === undefined || !keepsIdentities(ours))) {
    throw new NotFoundError(`Cannot look for orphans: there is no allocator checkpoint ${path}`, {
      code: 'CHECKPOINT_NOT_FOUND',
      hint: 'without it every local number looks like one; name it with --allocator-state',
      operands: { path },
    });
  }
  const ids = new Set<number>(index === undefined ? [] : checkpointStore(index).ids());
  for (const id of ours === undefined ? [] : stateStore(ours).ids()) ids.add(id);
  return ids;
}
