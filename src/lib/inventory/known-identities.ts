/** The identities that are written down: the agent's checkpoint, our own state, and a snapshot where one is read. */
import type { ToolError } from '../errors.ts';
import type { CheckpointIndex } from '../identity/checkpoint-index.ts';
import { LabelResolver, type LabelSource, type LabelsFrom } from '../identity/label-resolver.ts';
import { type LabelSelector, labelsSatisfy } from '../identity/label-selector.ts';
import { Labels } from '../identity/labels.ts';
import { hasLocalScope, hasRemoteNodeScope } from '../identity/numeric-identity.ts';
import { IDENTITY_UNKNOWN, RESERVED_ROWS } from '../identity/reserved.ts';
import type { IdentityTable } from '../snapshot/identity-table.ts';
import type { StateCheckpoint } from '../state/checkpoint.ts';

/** A place that has identities with their labels. */
export interface IdentityStore {
  readonly sources: readonly LabelSource[];
  /** The numbers in it that are allocated on this node. */
  ids(): Iterable<number>;
}

/** Numbers of other scopes in the file are not restored by the agent. */
export function checkpointStore(index: CheckpointIndex): IdentityStore {
  return {
    sources: [{ from: 'allocator', lookup: (id) => (isAllocatedHere(id) ? index.lookup(id) : undefined) }],
    ids: () => [...index.ids()].filter(isAllocatedHere),
  };
}

/** What `ipc listen` and `ipc restore` remember; numbers without labels count as known, too. */
export function stateStore({ identities }: Pick<StateCheckpoint, 'identities'>): IdentityStore {
  const byOrigin = new Map<LabelsFrom, Map<number, readonly string[]>>();
  for (const { identity, labels, labelsFrom = 'listen' } of identities) {
    if (labels === undefined) continue;
    const known = byOrigin.get(labelsFrom) ?? new Map<number, readonly string[]>();
    byOrigin.set(labelsFrom, known.set(identity, labels));
  }
  return {
    sources: [...byOrigin].map(([from, known]) => ({ from, lookup: (id) => labelsOf(known.get(id)) })),
    ids: () => identities.map(({ identity }) => identity),
  };
}

/**
 * Whether our state says anything about which numbers exist. One that only remembers what `ipc gc` deleted does not, and
 * all numbers would look like orphans.
 */
export function keepsIdentities(state: Pick<StateCheckpoint, 'writer' | 'restored' | 'identities'>): boolean {
  return state.writer !== undefined || state.restored !== undefined || state.identities.length > 0;
}

export function snapshotStore(table: IdentityTable): IdentityStore {
  return {
    sources: [{ from: 'snapshot', lookup: (id) => labelsOf(table.labels(id)) }],
    *ids() {
      for (const { identity } of table) if (isAllocatedHere(identity)) yield identity;
    },
  };
}

export class KnownIdentities {
  readonly resolver: LabelResolver;
  /** Local and remote-node numbers that any store has. */
  readonly ids: ReadonlySet<number>;
  /** Why further stores could not be read: a number that is not here may be there. */
  readonly unread: readonly ToolError[];

  constructor(stores: readonly IdentityStore[], unread: readonly ToolError[] = []) {
    this.unread = unread;
    this.resolver = new LabelResolver(stores.flatMap(({ sources }) => sources));
    this.ids = new Set(stores.flatMap((store) => [...store.ids()]));
  }

  /** Numbers whose labels satisfy all selectors, the reserved ones among them. */
  select(selectors: readonly LabelSelector[]): number[] {
    return [...RESERVED_IDS, ...this.ids].filter((id) => {
      const found = this.resolver.find(id);
      return found !== undefined && labelsSatisfy(found.labels, selectors);
    });
  }
}

/** The reserved numbers that have labels. */
export const RESERVED_IDS: readonly number[] = RESERVED_ROWS.map(({ id }) => id).filter(
  (id) => id !== IDENTITY_UNKNOWN,
);

export function isAllocatedHere(id: number): boolean {
  return hasLocalScope(id) || hasRemoteNodeScope(id);
}

function labelsOf(texts: readonly string[] | undefined): Labels | undefined {
  return texts === undefined ? undefined : Labels.parse(texts);
}
