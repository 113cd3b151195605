/** The agent's checkpoint as a source of labels. */
import { findInCheckpoint } from './checkpoint-find.ts';
import { CheckpointIndex } from './checkpoint-index.ts';
import type { LabelSource } from './label-resolver.ts';
import { hasLocalScope, hasRemoteNodeScope } from './numeric-identity.ts';

/**
 * Opens a checkpoint for looking up labels.
 * @param ids the only numbers that will be asked for; absent: any
 * @returns undefined when there is no such file
 * @throws as `readCheckpoint`; with `ids`, damage far from them may go unnoticed
 */
export function allocatorLabels(path: string, ids?: Iterable<number>): LabelSource | undefined {
  if (ids === undefined) {
    const index = CheckpointIndex.read(path);
    return index && { from: 'allocator', lookup: (id) => (isAllocated(id) ? index.lookup(id) : undefined) };
  }
  const found = findInCheckpoint(path, [...ids].filter(isAllocated));
  return found && { from: 'allocator', lookup: (id) => found.get(id) };
}

/** Other numbers in the file are not restored by the agent either. */
function isAllocated(id: number): boolean {
  return hasLocalScope(id) || hasRemoteNodeScope(id);
}
