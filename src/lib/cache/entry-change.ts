/**
 * One change of what the cache shows, in an object that is filled again for the next one. Listeners that look at the parts
 * cost nothing; an event is made of it for those who want to keep it.
 */
import type { CacheEntry, IpcacheEvent, PodMetadata } from './listener.ts';
import { PackedKey } from './packed-key.ts';

/** An entry that is filled again and again. */
export class EntryView implements CacheEntry {
  identity = 0;
  source = '';
  hostIP: string | undefined = undefined;
  encryptKey = 0;
  endpointFlags = 0;
  pod: PodMetadata | undefined = undefined;

  assign({ identity, source, hostIP, encryptKey, endpointFlags, pod }: CacheEntry): this {
    this.identity = identity;
    this.source = source;
    this.hostIP = hostIP;
    this.encryptKey = encryptKey;
    this.endpointFlags = endpointFlags;
    this.pod = pod;
    return this;
  }

  copy(): CacheEntry {
    const { identity, source, hostIP, encryptKey, endpointFlags, pod } = this;
    return { identity, source, hostIP, encryptKey, endpointFlags, pod };
  }
}

export class EntryChange {
  /** The prefix, never an endpoint. */
  readonly key = new PackedKey();
  /** What the prefix had; only where `hasOld` says so. */
  readonly old = new EntryView();
  /** What it has now; what it had where `isDelete` says that nothing is left. */
  readonly entry = new EntryView();
  hasOld = false;
  isDelete = false;
  #event: IpcacheEvent | undefined;

  /** The parts are about to be filled. */
  begin(): void {
    this.#event = undefined;
  }

  /** Takes over an event. */
  assign(event: IpcacheEvent): this {
    this.key.read(event.prefix);
    this.entry.assign(event.entry);
    this.isDelete = event.kind === 'delete';
    this.hasOld = false;
    if (event.kind === 'upsert' && event.old !== undefined) {
      this.hasOld = true;
      this.old.assign(event.old);
    }
    this.#event = event;
    return this;
  }

  /** The change to keep; the same object for everybody who asks during the change. */
  event(): IpcacheEvent {
    this.#event ??= this.#make();
    return this.#event;
  }

  #make(): IpcacheEvent {
    const prefix = this.key.prefixText();
    const entry = this.entry.copy();
    if (this.isDelete) return { kind: 'delete', prefix, entry };
    return { kind: 'upsert', prefix, entry, old: this.hasOld ? this.old.copy() : undefined };
  }
}
