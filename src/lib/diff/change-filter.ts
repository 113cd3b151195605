/** Which entries a comparison looks at. */
import { type IdentityScope, scopeOf } from '../identity/numeric-identity.ts';
import { type Prefix, samePrefixBits } from '../net/prefix.ts';
import { ADDRESS_AT, type EntryRow } from '../snapshot/entry-row.ts';
import type { ChangeClass } from './change-class.ts';

export interface ChangeFilter {
  /** Only entries inside of one of these; none: all. */
  readonly within: readonly Prefix[];
  /** Only identities of these scopes, before or after; none: all. */
  readonly scopes: readonly IdentityScope[];
  readonly ignoreClasses: readonly ChangeClass[];
  readonly ignoreWithin: readonly Prefix[];
  readonly ignoreIdentities: readonly number[];
}

export const EVERYTHING: ChangeFilter = {
  within: [],
  scopes: [],
  ignoreClasses: [],
  ignoreWithin: [],
  ignoreIdentities: [],
};

/** Whether an entry is looked at, by where it is. A key that is no prefix is nowhere. */
export function acceptsRow({ within, ignoreWithin }: ChangeFilter): ((row: EntryRow) => boolean) | undefined {
  if (within.length === 0 && ignoreWithin.length === 0) return undefined;
  return (row) =>
    (within.length === 0 || within.some((outer) => covers(outer, row))) &&
    !ignoreWithin.some((outer) => covers(outer, row));
}

/** Whether a change of one number, or from one to another, is looked at. */
export function acceptsIdentities({ scopes, ignoreIdentities }: ChangeFilter, identities: readonly number[]): boolean {
  if (ignoreIdentities.length > 0 && identities.some((identity) => ignoreIdentities.includes(identity))) return false;
  return scopes.length === 0 || identities.some((identity) => scopes.includes(scopeOf(identity)));
}

function covers(outer: Prefix, row: EntryRow): boolean {
  if (row.rawKey !== '' || row.family !== outer.family || row.clusterId !== outer.clusterId) return false;
  return row.length >= outer.length && samePrefixBits(outer.address, row.sortKey.subarray(ADDRESS_AT), outer.length);
}
