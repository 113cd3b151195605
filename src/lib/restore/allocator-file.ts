/**
 * Writes the agent's own checkpoint before an agent starts, so that it finds the numbers of its map again. A file that
 * knows more than what would be written is left alone.
 */
import * as fs from 'node:fs';
import { MalformedError, RefusedError } from '../errors.ts';
import { fileError } from '../fs/file-error.ts';
import type { IdentityRecord } from '../identity/caching-allocator.ts';
import { readCheckpoint } from '../identity/checkpoint.ts';
import { writeCheckpoint } from '../identity/checkpoint-write.ts';

export interface AllocatorFilePlan {
  readonly path: string;
  /** All that the file will have. */
  readonly records: readonly IdentityRecord[];
  /** What the file lacks; nothing is written when there is none and the file is sound. */
  readonly added: number;
  /** Where a damaged file goes. */
  readonly moveAside?: string;
}

/**
 * Looks at the file that is there.
 * @param records what is to be in it
 * @throws {RefusedError} code ALLOCATOR_STATE_KNOWS_MORE when it has an identity that the records do not have so
 * @throws {ToolError} when it cannot be read for another reason than damage
 */
export function planAllocatorFile(path: string, records: readonly IdentityRecord[]): AllocatorFilePlan {
  let present: readonly IdentityRecord[] | undefined;
  try {
    present = readCheckpoint(path);
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    return { path, records, added: records.length, moveAside: freeName(`${path}.damaged`) };
  }
  if (present === undefined) return { path, records, added: records.length };
  const wanted = new Set(records.map(recordText));
  const extra = present.find((record) => !wanted.has(recordText(record)));
  if (extra !== undefined) {
    throw new RefusedError(`Cannot replace ${path}: it has identity ${extra.id}, which what was restored has not so`, {
      code: 'ALLOCATOR_STATE_KNOWS_MORE',
      hint: 'the file is good as it is: start the agent with it, or move it away to have it made anew',
      operands: { path, identity: extra.id },
    });
  }
  return { path, records, added: records.length - new Set(present.map(recordText)).size };
}

/** Does what was planned. @returns whether the file changed @throws {ToolError} */
export async function writeAllocatorFile({ path, records, added, moveAside }: AllocatorFilePlan): Promise<boolean> {
  if (moveAside === undefined && added === 0 && fs.existsSync(path)) return false;
  if (moveAside !== undefined) {
    try {
      fs.renameSync(path, moveAside);
    } catch (cause) {
      throw fileError('move', path, cause);
    }
  }
  await writeCheckpoint(path, records);
  return true;
}

function recordText({ id, labels }: IdentityRecord): string {
  return `${id} ${labels.sortedList}`;
}

function freeName(begin: string): string {
  for (let i = 1; ; i++) {
    const path = i === 1 ? begin : `${begin}.${i}`;
    if (!fs.existsSync(path)) return path;
  }
}
