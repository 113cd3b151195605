/**
 * What a source can be believed about: the kinds of entry it has shown at least one of. That a prefix is missing from a
 * source that never had a number of its scope, family and cluster means nothing.
 */
import type { PackedKey } from '../cache/packed-key.ts';
import { type IdentityScope, scopeOf } from '../identity/numeric-identity.ts';
import type { Family } from '../net/address.ts';

export class Coverage {
  readonly #seen = new Set<string>();
  /** Most records repeat the kind of the one before. */
  #lastScope: IdentityScope | undefined;
  #lastFamily: Family | undefined;
  #lastCluster = 0;

  /** @param key a cache key or a prefix */
  add(key: string, identity: number): void {
    const at = key.indexOf('@');
    this.addKind(scopeOf(identity), key.includes(':') ? 'ipv6' : 'ipv4', at < 0 ? 0 : Number(key.slice(at + 1)));
  }

  addKey(key: PackedKey, identity: number): void {
    this.addKind(scopeOf(identity), key.isIPv6 ? 'ipv6' : 'ipv4', key.clusterId);
  }

  addKind(scope: IdentityScope, family: Family, clusterId: number): void {
    if (scope === this.#lastScope && family === this.#lastFamily && clusterId === this.#lastCluster) return;
    this.#lastScope = scope;
    this.#lastFamily = family;
    this.#lastCluster = clusterId;
    this.#seen.add(kindOf(scope, family, clusterId));
  }

  has(scope: IdentityScope, family: Family, clusterId: number): boolean {
    return this.#seen.has(kindOf(scope, family, clusterId));
  }
}

function kindOf(scope: IdentityScope, family: Family, clusterId: number): string {
  return `${scope} ${family} ${clusterId}`;
}
