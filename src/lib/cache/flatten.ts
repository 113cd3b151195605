/** Makes one statement about a prefix out of what its resources say: the strongest source wins, then the lower resource ID. */

import { type Label, sameLabel } from '../identity/label.ts';
import { Labels } from '../identity/labels.ts';
import { compareText } from '../identity/utf8-text.ts';
import type { Flattened, InfoKind, ResourceInfo } from './resource-info.ts';
import { sourceRank } from './source-rank.ts';

/** Two resources disagree; the winner's value is used. */
export interface Conflict {
  /** `override-without-labels` has no winner: the resource asked for an override and gave no labels. */
  readonly kind: InfoKind | 'override-without-labels';
  readonly winner: string;
  readonly loser: string;
  /** The label's key where labels disagree. */
  readonly key?: string;
}

export interface FlattenResult {
  readonly flattened: Flattened;
  readonly conflicts: readonly Conflict[];
}

const NO_CONFLICTS: readonly Conflict[] = [];

/** @param resources at least one */
export function flatten(resources: readonly ResourceInfo[]): FlattenResult {
  const [only] = resources;
  if (resources.length === 1 && only !== undefined && !only.identityOverride) {
    return { flattened: only, conflicts: NO_CONFLICTS };
  }
  const conflicts: Conflict[] = [];
  const sorted = [...resources].sort(byStrength);
  const labels = flattenLabels(sorted, conflicts);
  return {
    flattened: {
      source: sorted[0]?.source ?? 'unspec',
      ...labels,
      tunnelPeer: first(sorted, 'tunnelPeer', (info) => info.tunnelPeer !== '', conflicts)?.tunnelPeer ?? '',
      encryptKey: first(sorted, 'encryptKey', (info) => info.encryptKey !== 0, conflicts)?.encryptKey ?? 0,
      requestedIdentity:
        first(sorted, 'requestedIdentity', (info) => info.requestedIdentity !== 0, conflicts)?.requestedIdentity ?? 0,
      endpointFlags: first(sorted, 'endpointFlags', (info) => info.endpointFlags >= 0, conflicts)?.endpointFlags ?? -1,
    },
    conflicts,
  };
}

function byStrength(a: ResourceInfo, b: ResourceInfo): number {
  return sourceRank(a.source) - sourceRank(b.source) || compareText(a.resource, b.resource);
}

function first(
  sorted: readonly ResourceInfo[],
  kind: 'tunnelPeer' | 'encryptKey' | 'requestedIdentity' | 'endpointFlags',
  says: (info: ResourceInfo) => boolean,
  conflicts: Conflict[],
): ResourceInfo | undefined {
  let winner: ResourceInfo | undefined;
  for (const info of sorted) {
    if (!says(info)) continue;
    if (winner === undefined) winner = info;
    else if (info[kind] !== winner[kind]) conflicts.push({ kind, winner: winner.resource, loser: info.resource });
  }
  return winner;
}

/** The first override with labels fixes them; what stronger resources without an override gave is dropped. */
function flattenLabels(
  sorted: readonly ResourceInfo[],
  conflicts: Conflict[],
): Pick<Flattened, 'labels' | 'identityOverride'> {
  const merged = new Map<string, { readonly label: Label; readonly resource: string }>();
  let override: ResourceInfo | undefined;
  for (const info of sorted) {
    const given = info.labels ?? Labels.EMPTY;
    if (override === undefined && !info.identityOverride) merge(merged, given, info.resource, conflicts);
    if (!info.identityOverride) continue;
    if (given.size === 0) conflicts.push({ kind: 'override-without-labels', winner: '', loser: info.resource });
    else if (override === undefined) override = info;
    else conflicts.push({ kind: 'identityOverride', winner: override.resource, loser: info.resource });
  }
  if (override !== undefined) return { labels: override.labels, identityOverride: true };
  if (merged.size === 0) return { labels: undefined, identityOverride: false };
  const entries = [...merged].map(([mapKey, { label }]) => ({ mapKey, label }));
  return { labels: Labels.fromEntries(entries), identityOverride: false };
}

function merge(
  into: Map<string, { readonly label: Label; readonly resource: string }>,
  labels: Labels,
  resource: string,
  conflicts: Conflict[],
): void {
  for (const { mapKey, label } of labels.entries()) {
    const present = into.get(mapKey);
    if (present === undefined) into.set(mapKey, { label, resource });
    else if (!sameLabel(present.label, label)) {
      conflicts.push({ kind: 'labels', winner: present.resource, loser: resource, key: mapKey });
    }
  }
}
