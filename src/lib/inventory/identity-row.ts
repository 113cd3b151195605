/** One identity with everything that is known about it. */
import type { LabelFault } from '../identity/label-faults.ts';
import type { ResolvedLabels } from '../identity/label-resolver.ts';
import { clusterIdOf, isUserReserved, localIndex, scopeOf } from '../identity/numeric-identity.ts';
import { DEFAULT_IDENTITY_OPTIONS } from '../identity/options.ts';
import { reservedRow } from '../identity/reserved.ts';
import { wellKnownComponent } from '../identity/well-known.ts';
import type { PolicyRule } from '../policymap/policy-rule.ts';

export interface IdentityRow {
  readonly identity: number;
  /** Of a number of local or remote-node scope. */
  readonly index?: number;
  /** Of a global number of another cluster, as 255 clusters are numbered. */
  readonly clusterId?: number;
  /** Of a reserved or well-known number. */
  readonly name?: string;
  /** What a fixed number stands for, in words. */
  readonly meaning?: string;
  readonly labels?: ResolvedLabels | undefined;
  /** What is wrong with the labels; absent when nothing is. */
  readonly warnings?: readonly LabelFault[] | undefined;
  /** Entries of the map that have it; null when they could not be counted. */
  readonly entries: number | null;
  /** Only where they were asked for. */
  readonly prefixes?: readonly string[] | undefined;
  /** Only where policy maps were read; null when they could not be. */
  readonly policy?: readonly PolicyRule[] | null | undefined;
}

export type IdentityFacts = Omit<IdentityRow, 'index' | 'clusterId' | 'name' | 'meaning'>;

/** Adds what a number says about itself. */
export function identityRow(facts: IdentityFacts): IdentityRow {
  const { identity } = facts;
  const scope = scopeOf(identity);
  const clusterId = scope === 'global' ? clusterIdOf(identity, DEFAULT_IDENTITY_OPTIONS) : 0;
  const fixed = reservedRow(identity) ?? wellKnownComponent(identity);
  return {
    ...facts,
    ...((scope === 'local' || scope === 'remote-node') && { index: localIndex(identity) }),
    ...(clusterId !== 0 && { clusterId }),
    ...(fixed && { name: fixed.name, meaning: fixed.meaning }),
    ...(fixed === undefined &&
      isUserReserved(identity) && { meaning: "one of the numbers that an agent's settings may name" }),
  };
}
