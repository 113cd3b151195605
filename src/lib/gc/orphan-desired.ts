/** The allocator checkpoints as the desired state: an entry with a number of this node that none of them has is an orphan. */
import type { IdentityScope } from '../identity/numeric-identity.ts';
import { isAllocatedHere } from '../inventory/known-identities.ts';
import type { Family } from '../net/address.ts';
import type { DesiredState } from './desired.ts';
import type { MapRows } from './map-rows.ts';

export class OrphanDesired implements DesiredState {
  readonly name = 'any checkpoint';
  readonly #readKnown: () => Promise<ReadonlySet<number>>;

  /** @param readKnown the numbers that are written down now @throws by it where a checkpoint cannot be relied on */
  constructor(readKnown: () => Promise<ReadonlySet<number>>) {
    this.#readKnown = readKnown;
  }

  /** Nobody on this node writes down numbers of other scopes: they are never orphans. */
  speaksFor(scope: IdentityScope, _family: Family, clusterId: number): boolean {
    return clusterId === 0 && (scope === 'local' || scope === 'remote-node');
  }

  async read(rows: MapRows, onWanted: (row: number) => void): Promise<number> {
    const known = await this.#readKnown();
    for (let row = 0; row < rows.count; row++) {
      const identity = rows.identity(row);
      if (!isAllocatedHere(identity) || known.has(identity)) onWanted(row);
    }
    return known.size;
  }
}
