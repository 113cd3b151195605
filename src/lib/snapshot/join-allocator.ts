/**
 * Labels for the numbers of a map, from the agent's checkpoint. The agent writes that file up to ten seconds after a
 * change, so file and map may be of two moments: both are read until they agree, or until waiting longer is of no use.
 */
import { lookAtExactly } from '../fs/look-at.ts';
import { readCheckpoint } from '../identity/checkpoint.ts';
import { canonicalLabels } from '../identity/label-resolver.ts';
import { hasLocalScope, hasRemoteNodeScope } from '../identity/numeric-identity.ts';
import type { SnapshotIdentity } from './lines.ts';

export interface JoinOptions<Captured> {
  /** The agent's checkpoint; undefined: none is read. */
  readonly path: string | undefined;
  /** Labels from elsewhere, for numbers that the checkpoint does not have. */
  readonly more?: readonly SnapshotIdentity[] | undefined;
  /** Reads the map. */
  readonly capture: () => Promise<Captured>;
  /** Local and remote-node numbers of what was read. */
  readonly allocated: (captured: Captured) => ReadonlySet<number>;
  readonly pause: (ms: number) => Promise<void>;
  /** How long to wait at most; by default as long as the agent may take. */
  readonly patienceMs?: number | undefined;
  /** Called once, before waiting, with how many numbers the file does not have. */
  readonly onWait?: (missing: number) => void;
}

export interface Joined<Captured> {
  readonly captured: Captured;
  /** Everything in the file and from elsewhere, by number. */
  readonly identities: readonly SnapshotIdentity[];
  /** There is no such file, which is normal, or none was read. */
  readonly absent: boolean;
  /** How many numbers of the map have no labels. */
  readonly missing: number;
}

/** The agent's delay of ten seconds, and a little for the writing itself. */
const PATIENCE_MS = 11_000;
const STEP_MS = 250;

/** @throws {MalformedError} when the file is damaged; {ToolError} when it cannot be read */
export async function joinAllocator<Captured>(options: JoinOptions<Captured>): Promise<Joined<Captured>> {
  const { path, capture, pause, patienceMs = PATIENCE_MS, onWait } = options;
  let captured = await capture();
  let state = fileState(path);
  let joined = join(options, captured);
  if (joined.absent || joined.missing === 0 || patienceMs === 0) return joined;
  onWait?.(joined.missing);
  for (let waited = 0; joined.missing > 0 && waited < patienceMs; waited += STEP_MS) {
    await pause(STEP_MS);
    const seen = fileState(path);
    if (seen === state) continue;
    state = seen;
    captured = await capture();
    joined = join(options, captured);
  }
  return joined;
}

function join<Captured>({ path, more = [], allocated }: JoinOptions<Captured>, captured: Captured): Joined<Captured> {
  const records = path === undefined ? undefined : readCheckpoint(path);
  const byNumber = new Map<number, readonly string[]>();
  for (const { id, labels } of records ?? []) {
    // Of two records with one number the agent restores the first under it, and numbers of other scopes not at all.
    if (byNumber.has(id) || !(hasLocalScope(id) || hasRemoteNodeScope(id))) continue;
    const list = canonicalLabels(labels);
    if (list.length > 0) byNumber.set(id, list);
  }
  for (const { identity, labels } of more) if (!byNumber.has(identity)) byNumber.set(identity, labels);
  const identities = [...byNumber].map(([identity, labels]) => ({ identity, labels }));
  let missing = 0;
  for (const identity of allocated(captured)) if (!byNumber.has(identity)) missing++;
  return {
    captured,
    identities: identities.sort((a, b) => a.identity - b.identity),
    absent: records === undefined,
    missing,
  };
}

/** Changes whenever the file was replaced or written. */
function fileState(path: string | undefined): string {
  if (path === undefined) return '';
  const stats = lookAtExactly(path);
  return stats === undefined ? '' : `${stats.dev}:${stats.ino}:${stats.mtimeNs}:${stats.size}`;
}
