/**
 * What withheld numbers have stood for. A number is withheld because old entries may still carry it, so it must not come
 * to mean something else meanwhile, not even for a prefix that asks for it. (In Cilium 1.21 asking is enough.)
 */
import type { CachingAllocator } from '../identity/caching-allocator.ts';
import type { Labels } from '../identity/labels.ts';
import { type NumericIdentity, numericIdentity } from '../identity/numeric-identity.ts';

export class NumberMeanings {
  readonly #allocator: CachingAllocator;
  readonly #labels = new Map<number, string>();

  constructor(allocator: CachingAllocator) {
    this.#allocator = allocator;
  }

  /** @returns the number that may be asked for: the wanted one, or 0 when it stands for other labels */
  requestable(wanted: number, labels: Labels): number {
    if (wanted === 0 || !this.#isWithheld(numericIdentity(wanted))) return wanted;
    const known = this.#labels.get(wanted);
    return known === undefined || known === labels.sortedList ? wanted : 0;
  }

  /** Remembers what withheld numbers stand for that may be free soon. */
  beforeRelease(ids: Iterable<NumericIdentity>): void {
    for (const id of ids) {
      if (!this.#isWithheld(id)) continue;
      const identity = this.#allocator.lookupById(id);
      if (identity !== undefined) this.#labels.set(id, identity.labels.sortedList);
    }
  }

  #isWithheld(id: NumericIdentity): boolean {
    if (this.#allocator.local.withheld.has(id) || this.#allocator.remoteNode.withheld.has(id)) return true;
    if (this.#labels.size > 0) this.#labels.delete(id);
    return false;
  }
}
