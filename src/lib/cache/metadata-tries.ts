/** The prefixes with metadata: one trie for each cluster and family. */
import { isMapped } from '../net/address.ts';
import type { Prefix } from '../net/prefix.ts';
import { PrefixTrie } from '../net/prefix-trie.ts';
import type { PrefixState } from './prefix-state.ts';

interface ClusterTries {
  readonly ipv4: PrefixTrie<PrefixState>;
  readonly ipv6: PrefixTrie<PrefixState>;
}

export class MetadataTries {
  readonly #clusters = new Map<number, ClusterTries>();

  get size(): number {
    let size = 0;
    for (const { ipv4, ipv6 } of this.#clusters.values()) size += ipv4.size + ipv6.size;
    return size;
  }

  get({ family, address, length, clusterId }: Prefix): PrefixState | undefined {
    return this.#clusters.get(clusterId)?.[family].get(address, length);
  }

  set({ family, address, length, clusterId }: Prefix, state: PrefixState): void {
    let cluster = this.#clusters.get(clusterId);
    if (cluster === undefined) {
      cluster = { ipv4: new PrefixTrie('ipv4'), ipv6: new PrefixTrie('ipv6') };
      this.#clusters.set(clusterId, cluster);
    }
    cluster[family].set(address, length, state);
  }

  delete({ family, address, length, clusterId }: Prefix): void {
    const cluster = this.#clusters.get(clusterId);
    cluster?.[family].delete(address, length);
    if (cluster !== undefined && cluster.ipv4.size + cluster.ipv6.size === 0) this.#clusters.delete(clusterId);
  }

  /** The prefix itself and everything inside it. The tries must not change meanwhile. */
  forEachWithin({ family, address, length, clusterId }: Prefix, visit: (state: PrefixState) => void): void {
    this.#clusters.get(clusterId)?.[family].forEachWithin(address, length, visit);
  }

  /**
   * The shorter prefixes that cover this one, longest first. Those of a v4-mapped prefix are IPv4 prefixes, also the
   * host prefix of the address it embeds, and never `::/0` (Cilium 1.21).
   */
  covering({ family, address, length, clusterId }: Prefix): PrefixState[] {
    const cluster = this.#clusters.get(clusterId);
    if (cluster === undefined) return [];
    if (!isMapped(address)) return cluster[family].covering(address, length);
    const embedded = address.subarray(12);
    const parents = cluster.ipv4.covering(embedded, Math.min(length, 32));
    const own = length > 32 ? cluster.ipv4.get(embedded, 32) : undefined;
    return own === undefined ? parents : [own, ...parents];
  }

  *values(): IterableIterator<PrefixState> {
    for (const { ipv4, ipv6 } of this.#clusters.values()) {
      yield* ipv4.values();
      yield* ipv6.values();
    }
  }
}
