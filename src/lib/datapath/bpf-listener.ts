/**
 * Follows the cache and keeps the map like it: every event is one update or one delete of bytes. Whoever takes the bytes
 * writes them; the old pair of key and value is never needed.
 */
import type { CacheEntry, IpcacheEvent, IpcacheListener } from '../cache/listener.ts';
import { LayoutError } from '../errors.ts';
import { KEY_BYTES, type Layout } from '../ipcache/layout.ts';
import { writeEventKey } from './event-key.ts';
import { ValueEncoder } from './event-value.ts';
import type { TunnelRules } from './tunnel-endpoint.ts';

/** Takes changes of the map as bytes. Buffers are only valid during the call. */
export interface MapChanges {
  /** @param event what made the change, for whoever is told of its outcome */
  upsert(key: Uint8Array, value: Uint8Array, event: IpcacheEvent): void;
  /** @param identity what the entry had: the map's entry goes only when it has that */
  remove(key: Uint8Array, identity: number, event: IpcacheEvent): void;
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
    if (event.kind === 'upsert' && event.old !== undefined && isSameValue(event.entry, event.old)) {
      this.#unchanged++;
      return;
    }
    try {
      this.#pass(event);
    } catch (error) {
      if (!(error instanceof LayoutError)) throw error;
      this.#options.onUnwritable?.(event, error);
    }
  }

  #pass(event: IpcacheEvent): void {
    const { layout, changes } = this.#options;
    writeEventKey(layout, event.prefix, this.#key);
    if (event.kind === 'delete') {
      changes.remove(this.#key, event.entry.identity, event);
    } else {
      this.#values.write(event.entry, this.#value);
      changes.upsert(this.#key, this.#value, event);
    }
  }
}

/** Source and pod are not in the map. */
function isSameValue(a: CacheEntry, b: CacheEntry): boolean {
  return (
    a.identity === b.identity &&
    a.encryptKey === b.encryptKey &&
    a.endpointFlags === b.endpointFlags &&
    a.hostIP === b.hostIP
  );
}
