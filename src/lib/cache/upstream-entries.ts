/**
 * The entries as Cilium 1.21 keeps them (pkg/ipcache/ipcache.go), defects included: one value a key, a refused value is
 * forgotten, and the two APIs remember each other through marks on the entry. It exists to compare with golden cases and
 * to foretell what an agent will do; nothing of it feeds a map.
 */
import { endpointKeyOf, isEndpointKey, prefixTextOf } from './cache-key.ts';
import type {
  Batch,
  DeleteOutcome,
  DeleteRequest,
  DirectValue,
  EntryStore,
  EntryStoreSetup,
  KeyView,
  UpsertOutcome,
} from './entry-store.ts';
import type { CacheEntry, IpcacheEvent } from './listener.ts';
import { PackedKey } from './packed-key.ts';
import { allowOverwrite } from './source-rank.ts';
import { UpstreamBatch } from './upstream-batch.ts';
import { UpstreamEntry } from './upstream-entry.ts';

export interface UpstreamWrite {
  readonly value: DirectValue;
  /** Overwrites a stronger source. */
  readonly force: boolean;
  readonly fromDirect: boolean;
  readonly overwrittenDirectSource: string;
}

export class UpstreamEntries implements EntryStore {
  readonly #table = new Map<string, UpstreamEntry>();
  readonly #setup: EntryStoreSetup<IpcacheEvent>;

  constructor(setup: EntryStoreSetup<IpcacheEvent>) {
    this.#setup = setup;
  }

  get size(): number {
    return this.#table.size;
  }

  get(key: string): UpstreamEntry | undefined {
    return this.#table.get(key);
  }

  /** Cilium keeps no times here. */
  sinceOf(): undefined {}

  isShadowed(key: string): boolean {
    return this.#table.get(key)?.shadowed ?? false;
  }

  entries(): IterableIterator<readonly [string, UpstreamEntry]> {
    return this.#table.entries();
  }

  /** @throws {TypeError} for a key in a spelling that only Cilium has */
  *views(): IterableIterator<KeyView> {
    const key = new PackedKey();
    for (const [text, entry] of this.#table) yield { key: key.read(text), entry };
  }

  batch(): Batch {
    return new UpstreamBatch(this);
  }

  upsert(key: string, value: DirectValue): UpsertOutcome {
    return this.write(key, { value, force: false, fromDirect: true, overwrittenDirectSource: '' });
  }

  upsertPacked(key: PackedKey, value: DirectValue): UpsertOutcome {
    return this.upsert(key.text(), value);
  }

  delete(key: string, { source, pod }: DeleteRequest): DeleteOutcome {
    const present = this.#table.get(key);
    if (pod !== undefined && (present?.pod?.namespace !== pod.namespace || present.pod.name !== pod.name)) {
      return { kind: 'stale' };
    }
    if (present === undefined) return { kind: 'unknown' };
    if (present.source !== source) return { kind: 'not-owner' };
    this.#table.delete(key);
    this.#setup.lengths.remove(key);
    this.#tellDeleted(key, present);
    return { kind: 'deleted', namedPortsChanged: this.#setup.namedPorts.move(present, undefined) };
  }

  write(key: string, { value, force, fromDirect, overwrittenDirectSource }: UpstreamWrite): UpsertOutcome {
    const present = this.#table.get(key);
    const next = new UpstreamEntry(value);
    next.overwrittenDirectSource = overwrittenDirectSource;
    next.modifiedByDirect = fromDirect || (present?.modifiedByDirect ?? false);
    if (present !== undefined) {
      if (fromDirect) next.overwrittenDirectSource = rememberedSource(present, value.source);
      if (!force && !allowOverwrite(present.source, value.source)) {
        present.modifiedByDirect = next.modifiedByDirect;
        present.overwrittenDirectSource = next.overwrittenDirectSource;
        return { kind: 'outranked', by: present.source };
      }
      if (present.equals(next, value.encryptKey ?? 0)) return { kind: 'unchanged', namedPortsChanged: false };
    }
    let old: UpstreamEntry | undefined = present;
    let tell = true;
    if (!isEndpointKey(key)) {
      const endpoint = endpointKeyOf(key);
      next.shadowed = endpoint !== undefined && this.#table.has(endpoint);
    } else if (present === undefined) {
      const hidden = this.#table.get(prefixTextOf(key));
      if (hidden !== undefined && sameIdentityAndHost(hidden, next)) tell = false;
      else if (hidden !== undefined) {
        hidden.shadowed = true;
        old = hidden;
      }
    }
    this.#table.set(key, next);
    if (present === undefined) this.#setup.lengths.add(key);
    if (tell && !next.shadowed) {
      // An encrypt key without a host is told, though it is not kept.
      const entry = next.encryptKey === (value.encryptKey ?? 0) ? next : next.withKey(value.encryptKey ?? 0);
      this.#setup.publish({ kind: 'upsert', prefix: prefixTextOf(key), entry, old: old?.copy() });
    }
    return { kind: 'applied', namedPortsChanged: this.#setup.namedPorts.move(present, next) };
  }

  #tellDeleted(key: string, gone: UpstreamEntry): void {
    const prefix = prefixTextOf(key);
    if (!isEndpointKey(key)) {
      const at = prefix.indexOf('@');
      const address = prefix.slice(0, prefix.indexOf('/')) + (at < 0 ? '' : prefix.slice(at));
      if (!this.#table.has(address)) this.#setup.publish({ kind: 'delete', prefix, entry: gone });
      return;
    }
    const hidden = this.#table.get(prefix);
    if (hidden === undefined) this.#setup.publish({ kind: 'delete', prefix, entry: gone });
    else if (!sameIdentityAndHost(hidden, gone)) {
      hidden.shadowed = false;
      this.#setup.publish({ kind: 'upsert', prefix, entry: hidden.copy(), old: gone });
    }
  }
}

/** The direct source that the metadata would give the entry back to. */
function rememberedSource(present: UpstreamEntry, source: string): string {
  if (present.isOfMetadataOnly) return source;
  if (present.overwrittenDirectSource === '') return '';
  return allowOverwrite(present.overwrittenDirectSource, source) ? source : present.overwrittenDirectSource;
}

function sameIdentityAndHost(a: CacheEntry, b: CacheEntry): boolean {
  return a.identity === b.identity && a.hostIP === b.hostIP;
}
