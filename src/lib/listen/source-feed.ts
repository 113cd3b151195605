/** Takes what one source says into the cache, and remembers how the source is. */

import type { DirectOptions, Ipcache } from '../cache/ipcache.ts';
import type { MetadataUpdate } from '../cache/metadata.ts';
import type { PackedKey } from '../cache/packed-key.ts';
import type { MalformedError } from '../errors.ts';
import { needsGlobalIdentity } from '../identity/label-scope.ts';
import { formatPrefix, type Prefix } from '../net/prefix.ts';
import type { PlainUpsert } from '../sources/plain-upsert.ts';
import type { SourceEvent, SourceSink } from '../sources/source.ts';
import type { Rejection, SourceCondition, TellLoop } from './loop-event.ts';

/** What this node is, as far as it decides which events are for it. */
export interface NodeFamilies {
  readonly ipv4: boolean;
  readonly ipv6: boolean;
  /** 0 when it is not known: then prefixes of every cluster are taken. */
  readonly clusterId: number;
}

export interface SourceFeedSetup {
  readonly name: string;
  readonly cache: Ipcache;
  readonly node: NodeFamilies;
  readonly tell: TellLoop;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Something that is part of the checkpoint changed. */
  readonly onChange: () => void;
  readonly drained: () => Promise<void> | undefined;
  /** Called before metadata of a prefix is taken in. */
  readonly claim: (prefix: Prefix) => void;
}

export class SourceFeed implements SourceSink {
  readonly name: string;
  /** Events that the cache has taken, whatever came of them. */
  events = 0;
  /** Late deletes of what has another identity or belongs to another pod by now. */
  staleDeletes = 0;
  condition: SourceCondition = 'starting';
  /** Why it is lost. */
  reason: string | undefined;
  /** When it was complete last; undefined: never. */
  syncedAt: number | undefined;
  readonly rejected = new Map<Rejection, number>();
  readonly #setup: SourceFeedSetup;
  readonly #owner: DirectOptions;

  constructor(setup: SourceFeedSetup) {
    this.name = setup.name;
    this.#setup = setup;
    this.#owner = { owner: setup.name };
  }

  /** Events that were not used, for any reason. */
  get rejections(): number {
    let sum = 0;
    for (const count of this.rejected.values()) sum += count;
    return sum;
  }

  event(event: SourceEvent): void {
    this.events++;
    const { cache } = this.#setup;
    switch (event.op) {
      case 'upsert':
        if (this.#isForUs(event.record.key)) cache.upsert(event.record.key, event.record, this.#owner);
        break;
      case 'delete':
        if (this.#isForUs(event.key)) this.#delete(event);
        break;
      case 'upsertMetadata':
        if (!this.#isPrefixForUs(event.update.prefix) || !this.#canHaveIdentity(event.update)) break;
        this.#setup.claim(event.update.prefix);
        cache.upsertMetadata([event.update]);
        break;
      case 'removeMetadata':
        cache.removeMetadata([event.removal]);
        break;
    }
  }

  upsert(upsert: PlainUpsert): void {
    this.events++;
    if (this.#isKeyForUs(upsert.key)) this.#setup.cache.upsertPacked(upsert.key, upsert, this.#owner);
  }

  synced(): void {
    this.syncedAt = this.#setup.now();
    this.#become('synced');
  }

  lost(reason: string): void {
    // A stream that ends in order has said what it had to say.
    this.#become(this.condition === 'synced' && reason.endsWith('has ended') ? 'ended' : 'lost', reason);
  }

  drained(): Promise<void> | undefined {
    return this.#setup.drained();
  }

  reject(reason: Rejection, subject: string): void {
    this.count(reason);
    this.#setup.tell({ kind: 'rejected', source: this.name, reason, subject });
  }

  /** A line that was no event. */
  badLine(error: MalformedError): void {
    this.#setup.tell({ kind: 'bad-line', source: this.name, error });
  }

  count(reason: Rejection): void {
    this.rejected.set(reason, (this.rejected.get(reason) ?? 0) + 1);
  }

  #delete({ key, source, expectIdentity, pod }: Extract<SourceEvent, { readonly op: 'delete' }>): void {
    const outcome = this.#setup.cache.delete(key, {
      source,
      owner: this.name,
      expectIdentity,
      ...(pod !== undefined && { pod }),
    });
    if (outcome.kind === 'stale') this.staleDeletes++;
    else if (outcome.kind === 'unknown') this.reject('unknown-key', key);
    else if (outcome.kind === 'not-owner') this.reject('not-owner', key);
  }

  #become(condition: SourceCondition, reason?: string): void {
    if (condition === this.condition && reason === this.reason) return;
    this.condition = condition;
    this.reason = reason;
    this.#setup.onChange();
    this.#setup.tell({ kind: 'source', source: this.name, condition, ...(reason !== undefined && { reason }) });
  }

  #isKeyForUs(key: PackedKey): boolean {
    const { node } = this.#setup;
    const isWanted = key.isIPv6 ? node.ipv6 : node.ipv4;
    // The whole answer with its reason takes a text.
    return isWanted && key.clusterId === 0 ? true : this.#isForUs(key.text());
  }

  #isForUs(key: string): boolean {
    const { node } = this.#setup;
    if (!(key.includes(':') ? node.ipv6 : node.ipv4)) {
      this.reject('family', key);
      return false;
    }
    const at = node.clusterId === 0 ? -1 : key.indexOf('@');
    if (at < 0 || Number(key.slice(at + 1)) !== node.clusterId) return true;
    // Lookups in the own cluster have cluster ID 0: nothing would ever find such an entry.
    this.reject('cluster', key);
    return false;
  }

  /** What can never be resolved would be tried again for ever, and everything after it would wait. */
  #canHaveIdentity({ prefix, info: { labels } }: MetadataUpdate): boolean {
    if (labels === undefined || !needsGlobalIdentity(labels)) return true;
    this.reject('global-labels', formatPrefix(prefix));
    return false;
  }

  #isPrefixForUs(prefix: Prefix): boolean {
    const { node } = this.#setup;
    const isWanted = prefix.family === 'ipv6' ? node.ipv6 : node.ipv4;
    if (!isWanted) this.reject('family', formatPrefix(prefix));
    else if (node.clusterId !== 0 && prefix.clusterId === node.clusterId) this.reject('cluster', formatPrefix(prefix));
    else return true;
    return false;
  }
}
