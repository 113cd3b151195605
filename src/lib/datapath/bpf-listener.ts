/**
 * Follows the cache and keeps the map like it: every event is one update or one delete of bytes. Whoever takes the bytes
 * writes them; the old pair of key and value is never needed.
 */
import { EntryChange } from '../cache/entry-change.ts';
import type { IpcacheEvent, IpcacheListener } from '../cache/listener.ts';
import { sameInMap } from '../cache/same-entry.ts';
import { LayoutError } from '../errors.ts';
import { KEY_BYTES, type Layout } from '../ipcache/layout.ts';
import { writePackedKey } from './event-key.ts';
import { ValueEncoder } from './event-value.ts';
import type { TunnelRules } from './tunnel-endpoint.ts';

/** Makes the event to tell of, for whoever wants to keep it; only during the call that it is given to. */
export interface EventMaker {
  event(): IpcacheEvent;
}

/** Takes changes of the map as bytes. Buffers are only valid during the call. */
export interface MapChanges {
  /** @param change what made the change, for whoever is told of its outcome */
  upsert(key: Uint8Array, value: Uint8Array, change: EventMaker): void;
  /** @param identity what the entry had: the map's entry goes only when it has that */
  remove(key: Uint8Array, identity: number, change: EventMaker): void;
}

export interface BpfListenerOptions {
  readonly layout: Layout;
  readonly rules: TunnelRules;
  readonly changes: MapChanges;
  /** An event that the map's layout has no place for; the map keeps what it has. */
  readonly onUnwritable?: ((event: IpcacheEvent, reason: LayoutError) => void) | undefined;
}

export class BpfListener implements IpcacheListener {
  readonly #options: BpfListenerOptions;
  readonly #values: ValueEncoder;
  readonly #key = new Uint8Array(KEY_BYTES);
  readonly #value: Uint8Array;
  readonly #change = new EntryChange();
  #unchanged = 0;

  constructor(options: BpfListenerOptions) {
    this.#options = options;
    this.#values = new ValueEncoder(options.layout, options.rules);
    this.#value = new Uint8Array(options.layout.value.bytes);
  }

  /** Events that left key and value as they were, and were not passed on. */
  get unchanged(): number {
    return this.#unchanged;
  }

  onIpcacheEvent(event: IpcacheEvent): void {
    this.onEntryChange(this.#change.assign(event));
  }

  onEntryChange(change: EntryChange): void {
    // Source and pod are not in the map.
    if (change.hasOld && sameInMap(change.entry, change.old)) {
      this.#unchanged++;
      return;
    }
    try {
      this.#pass(change);
    } catch (error) {
      if (!(error instanceof LayoutError)) throw error;
      this.#options.onUnwritable?.(change.event(), error);
    }
  }

  #pass(change: EntryChange): void {
    const { layout, changes } = this.#options;
    writePackedKey(layout, change.key, this.#key);
    if (change.isDelete) {
      changes.remove(this.#key, change.entry.identity, change);
    } else {
      this.#values.write(change.entry, this.#value);
      changes.upsert(this.#key, this.#value, change);
    }
  }
}
