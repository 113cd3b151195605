/** The agent's checkpoint as a source of labels. */
import { readCheckpointBytes } from './checkpoint.ts';
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
  const bytes = readCheckpointBytes(path);
  if (bytes === undefined) return undefined;
  if (ids === undefined) {
    const index = CheckpointIndex.of(bytes, path);
    return { from: 'allocator', lookup: (id) => (isAllocated(id) ? index.lookup(id) : undefined) };
  }
  const found = findInCheckpoint(bytes, path, [...ids].filter(isAllocated));
  return { from: 'allocator', lookup: (id) => found.get(id) };
}

/** Other numbers in the file are not restored by the agent either. */
function isAllocated(id: number): boolean {
  return hasLocalScope(id) || hasRemoteNodeScope(id);
}
