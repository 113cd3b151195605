/** What the end of the grace period does to each placeholder, decided without touching anything. */
import { scopeOf } from '../identity/numeric-identity.ts';
import { parsePrefix } from '../net/prefix.ts';
import type { Placeholder, StateCheckpoint } from '../state/checkpoint.ts';
import type { Claims } from './claims.ts';

/** What the map has for the prefixes of placeholders, and which numbers stand in it at all. */
export interface MapNumbers {
  /** @returns undefined when exactly this prefix is not in the map */
  identityOf(prefix: string): number | undefined;
  /** Every local and remote-node number with how many entries have it. */
  readonly uses: ReadonlyMap<number, number>;
}

export type ReleaseReason =
  /** Another source has the prefix: it stays. */
  | 'claimed'
  /** No source has it, and one speaks for its kind: the entry goes. */
  | 'unclaimed'
  /** Nobody can say: only the reservation ends. */
  | 'unknown'
  /** It is not in the map any more. */
  | 'gone'
  /** The map has another number there by now. */
  | 'changed';

export interface ReleasedPrefix {
  readonly placeholder: Placeholder;
  readonly reason: ReleaseReason;
  /** The source that has it. */
  readonly by?: string;
}

export interface ReleasePlan {
  readonly prefixes: readonly ReleasedPrefix[];
  /** Numbers that nothing has once that is done. */
  readonly freed: readonly number[];
}

/** @param claims undefined: no source was named, and nothing that is live is deleted */
export function planRelease(state: StateCheckpoint, map: MapNumbers, claims: Claims | undefined): ReleasePlan {
  const prefixes = state.placeholders.map((placeholder) => decide(placeholder, map, claims));
  const left = new Map(map.uses);
  for (const { placeholder, reason } of prefixes) {
    if (reason !== 'unclaimed') continue;
    left.set(placeholder.identity, (left.get(placeholder.identity) ?? 1) - 1);
  }
  const held = new Set(
    prefixes.filter(({ reason }) => reason === 'claimed').map(({ placeholder }) => placeholder.identity),
  );
  const freed = state.identities
    .map(({ identity }) => identity)
    .filter((identity) => !held.has(identity) && (left.get(identity) ?? 0) === 0);
  return { prefixes, freed };
}

function decide(placeholder: Placeholder, map: MapNumbers, claims: Claims | undefined): ReleasedPrefix {
  const by = claims?.claimant(placeholder.prefix);
  if (by !== undefined) return { placeholder, reason: 'claimed', by };
  const present = map.identityOf(placeholder.prefix);
  if (present === undefined) return { placeholder, reason: 'gone' };
  if (present !== placeholder.identity) return { placeholder, reason: 'changed' };
  if (claims === undefined) return { placeholder, reason: 'unknown' };
  const { family, clusterId } = parsePrefix(placeholder.prefix);
  const speaks = claims.speaksFor(scopeOf(placeholder.identity), family, clusterId);
  return { placeholder, reason: speaks ? 'unclaimed' : 'unknown' };
}
