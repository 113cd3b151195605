/** One batch of the injector as Cilium 1.21 applies it (pkg/ipcache/metadata.go), with the references it loses. */
import type { Batch, BatchResult, DirectValue, Resolution } from './entry-store.ts';
import type { PrefixState } from './prefix-state.ts';
import type { UpstreamEntries, UpstreamWrite } from './upstream-entries.ts';
import type { UpstreamEntry } from './upstream-entry.ts';

export class UpstreamBatch implements Batch {
  readonly #entries: UpstreamEntries;
  readonly #writes: { readonly key: string; readonly write: UpstreamWrite }[] = [];
  readonly #deletes = new Set<string>();
  readonly #release: number[] = [];
  /** Prefixes whose direct owner may have gone already: deleted when their identity turns out to be free. */
  readonly #orphans: { readonly key: string; readonly identity: number }[] = [];

  constructor(entries: UpstreamEntries) {
    this.#entries = entries;
  }

  previous(state: PrefixState): number | undefined {
    return this.#entries.get(state.key)?.identity;
  }

  resolved(state: PrefixState, { identity, flattened }: Resolution): boolean {
    const old = this.#entries.get(state.key);
    const hostIP = flattened.tunnelPeer === '' ? undefined : flattened.tunnelPeer;
    const endpointFlags = Math.max(flattened.endpointFlags, 0);
    const { source, encryptKey } = flattened;
    const overwrittenDirectSource = old?.isOfDirectOnly ? old.source : old?.isOfBoth ? old.overwrittenDirectSource : '';
    const isSame =
      old?.identity === identity.id &&
      old.source === source &&
      old.hostIP === hostIP &&
      old.encryptKey === encryptKey &&
      old.endpointFlags === endpointFlags &&
      old.overwrittenDirectSource === overwrittenDirectSource;
    if (!isSame) {
      this.#writes.push({
        key: state.key,
        write: {
          value: { identity: identity.id, source, hostIP, encryptKey, endpointFlags, pod: old?.pod },
          force: old !== undefined && old.source !== source && old.identity !== identity.id,
          fromDirect: false,
          overwrittenDirectSource,
        },
      });
    }
    // A direct owner keeps the reference it took itself.
    if (old !== undefined && (isSame || !old.isOfDirectOnly)) this.#release.push(old.identity);
    return !isSame;
  }

  gone(state: PrefixState): void {
    const old = this.#entries.get(state.key);
    if (old === undefined) return;
    this.#release.push(old.identity);
    if (old.isOfMetadataOnly) this.#deletes.add(state.key);
    else this.#orphans.push({ key: state.key, identity: old.identity });
    if (old.isOfBoth) this.#writes.push({ key: state.key, write: giveBack(old) });
  }

  *commit(): Generator<void, BatchResult> {
    for (const { key, write } of this.#writes) this.#entries.write(key, write);
    for (const key of this.#deletes) this.#delete(key);
    return {
      release: this.#release,
      afterRelease: (deallocated) => {
        for (const { key, identity } of this.#orphans) if (deallocated.includes(identity)) this.#delete(key);
      },
    };
  }

  #delete(key: string): void {
    const source = this.#entries.get(key)?.source;
    if (source !== undefined) this.#entries.delete(key, { source });
  }
}

/** The entry returns to its direct owner, but with the metadata's identity. */
function giveBack(old: UpstreamEntry): UpstreamWrite {
  const { identity, hostIP, encryptKey, endpointFlags, pod } = old;
  const value: DirectValue = { identity, source: old.overwrittenDirectSource, hostIP, encryptKey, endpointFlags, pod };
  return { value, force: true, fromDirect: false, overwrittenDirectSource: '' };
}
