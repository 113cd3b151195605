/**
 * What two nodes think differently about one prefix. Each node sees itself in its own way (its addresses are `host`, its
 * pods have no tunnel, its pod CIDRs and local numbers are its own business), and none of that is a difference.
 * After the node manager and the BPF listener of Cilium 1.21 (pkg/node/manager, pkg/datapath/ipcache).
 */
import { hasLocalScope, hasRemoteNodeScope } from '../identity/numeric-identity.ts';
import {
  IDENTITY_HOST,
  IDENTITY_KUBE_APISERVER,
  IDENTITY_REMOTE_NODE,
  IDENTITY_WORLD,
  IDENTITY_WORLD_IPV4,
  IDENTITY_WORLD_IPV6,
} from '../identity/reserved.ts';
import { FLAG } from '../ipcache/layout.ts';
import { classBit } from './change-class.ts';
import type { ChangeValues, EntrySide } from './change-table.ts';
import { isWorldSplit, type LabelsOf, TUNNEL_FLAGS } from './classify-change.ts';
import { compareLabels } from './compare-labels.ts';

/** What one node knows of itself and of its numbers. */
export interface NodeView {
  readonly labels: LabelsOf;
  /** Addresses that are `host` on it, as text. */
  readonly own: ReadonlySet<string>;
}

/**
 * - `own`: the node's own way to see itself
 * - `local`: a local prefix that only this node has
 * - `unlabelled`: local numbers, and one side does not know its labels
 */
export type ViewNote = 'own' | 'local' | 'unlabelled';

export interface ClassifiedView {
  readonly classes: number;
  readonly note?: ViewNote;
}

/** Judges one prefix that is not, line for line, the same on both nodes. */
export function classifyView(change: ChangeValues, before: NodeView, after: NodeView): ClassifiedView {
  if (change.before === undefined) return classifyLone(change.after, before.own, 'added');
  if (change.after === undefined) return classifyLone(change.before, after.own, 'removed');
  return classifyPair(change, change.before, change.after, [before, after]);
}

function classifyLone(
  entry: EntrySide | undefined,
  ownOfOther: ReadonlySet<string>,
  name: 'added' | 'removed',
): ClassifiedView {
  if (entry === undefined) return { classes: 0 };
  const { identity, tunnelEndpoint } = entry;
  if (hasLocalScope(identity)) return { classes: 0, note: 'local' };
  if (identity === IDENTITY_HOST) return { classes: 0, note: 'own' };
  // A node has no entry for its own pod CIDRs; the others send what nobody answers for there to it.
  if (WORLD.has(identity) && tunnelEndpoint !== undefined && ownOfOther.has(tunnelEndpoint)) {
    return { classes: 0, note: 'own' };
  }
  return { classes: classBit(name) };
}

const WORLD: ReadonlySet<number> = new Set([IDENTITY_WORLD, IDENTITY_WORLD_IPV4, IDENTITY_WORLD_IPV6]);

function classifyPair(
  change: ChangeValues,
  a: EntrySide,
  b: EntrySide,
  views: readonly [NodeView, NodeView],
): ClassifiedView {
  const isOwn = isOwnAddress(a.identity, b.identity) || isOwnTunnel(a, b, views[0]) || isOwnTunnel(b, a, views[1]);
  const identity = classifyIdentity(change, a.identity, b.identity, views);
  let classes = identity.classes;
  const retunnelled =
    a.tunnelEndpoint !== b.tunnelEndpoint && !isOwnTunnel(a, b, views[0]) && !isOwnTunnel(b, a, views[1]);
  if (retunnelled) classes |= classBit('retunnelled');
  // Traffic to itself is not encrypted, and a node is in no cluster remote to itself.
  const oneHasNoKey = a.encryptKey === 0 || b.encryptKey === 0;
  if (a.encryptKey !== b.encryptKey && !(isOwn && oneHasNoKey)) classes |= classBit('rekeyed');
  const meaningless = TUNNEL_FLAGS | (isOwn ? FLAG.remotecluster : 0);
  if (((a.flags ^ b.flags) & ~meaningless) !== 0) classes |= classBit('reflagged');
  if (identity.note !== undefined) return { classes, note: identity.note };
  return classes === 0 ? { classes, note: 'own' } : { classes };
}

function classifyIdentity(
  change: ChangeValues,
  a: number,
  b: number,
  [before, after]: readonly [NodeView, NodeView],
): ClassifiedView {
  if (isOwnAddress(a, b) || isWorldSplit(a, b, change.family)) return { classes: 0 };
  const isLocal = (id: number): boolean => hasLocalScope(id) || hasRemoteNodeScope(id);
  if (!isLocal(a) && !isLocal(b)) return { classes: a === b ? 0 : classBit('renumbered') };
  const had = before.labels(a);
  const has = after.labels(b);
  // Global numbers mean the same everywhere, so a local one on one side only is another identity, labels or not.
  if (isLocal(a) !== isLocal(b)) return { classes: classBit('renumbered') };
  if (had === undefined || has === undefined) return { classes: 0, note: 'unlabelled' };
  switch (compareLabels(had, has).kind) {
    case 'same':
    case 'world-split':
      return { classes: 0 };
    case 'cidr-lost':
      return { classes: classBit('cidr-label-lost') };
    case 'other':
      return { classes: classBit('relabelled') };
  }
}

/** Whether an address is `host` for one side and, as it should be, a node for the other. */
function isOwnAddress(a: number, b: number): boolean {
  return (a === IDENTITY_HOST && isNode(b)) || (b === IDENTITY_HOST && isNode(a));
}

function isNode(identity: number): boolean {
  return (
    identity === IDENTITY_HOST ||
    identity === IDENTITY_REMOTE_NODE ||
    identity === IDENTITY_KUBE_APISERVER ||
    hasRemoteNodeScope(identity)
  );
}

/** Whether `near` lacks a tunnel because the tunnel of `far` leads to `near`'s own node. */
function isOwnTunnel(near: EntrySide, far: EntrySide, nearView: NodeView): boolean {
  return near.tunnelEndpoint === undefined && far.tunnelEndpoint !== undefined && nearView.own.has(far.tunnelEndpoint);
}
