/**
 * Keeps the checkpoint: what cannot be learnt again is on disk ten seconds after it changed, at the latest. It is put
 * together in short turns, so that events go on meanwhile.
 */
import { setImmediate } from 'node:timers/promises';
import { endpointKeyOf } from '../cache/cache-key.ts';
import type { EntryChange } from '../cache/entry-change.ts';
import type { Ipcache } from '../cache/ipcache.ts';
import type { IpcacheEvent, IpcacheListener } from '../cache/listener.ts';
import type { PackedKey } from '../cache/packed-key.ts';
import { ToolError } from '../errors.ts';
import type { CachingAllocator } from '../identity/caching-allocator.ts';
import { canonicalLabels } from '../identity/label-resolver.ts';
import { hasLocalScope, hasRemoteNodeScope } from '../identity/numeric-identity.ts';
import { IDENTITY_INGRESS } from '../identity/reserved.ts';
import type { IdentityDraft, StateDraft } from '../state/checkpoint.ts';
import type { State } from '../state/state.ts';
import type { Clock } from './clock.ts';
import { timeText } from './clock.ts';
import type { TellLoop } from './loop-event.ts';
import { NumberedKeys } from './numbered-keys.ts';

/** The rest of a checkpoint, as it is at the moment. */
export type KeptFacts = Pick<
  StateDraft,
  'map' | 'writer' | 'restored' | 'placeholders' | 'sources' | 'pending' | 'collected'
>;

export interface KeeperSetup {
  readonly state: State;
  readonly cache: Ipcache;
  readonly allocator: CachingAllocator;
  readonly bootId: string;
  readonly clock: Clock;
  readonly tell: TellLoop;
  readonly facts: (isFinal: boolean) => KeptFacts;
}

const INTERVAL_MS = 10_000;
/** Well under a millisecond of work. */
const TURN_ENTRIES = 1024;

export class Keeper implements IpcacheListener {
  readonly #setup: KeeperSetup;
  #isDirty = false;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #lastEnd = Number.NEGATIVE_INFINITY;
  /** Milliseconds since the epoch. */
  writtenAt: number | undefined;
  failures = 0;

  constructor(setup: KeeperSetup) {
    this.#setup = setup;
  }

  /** Only numbers that this node gave away are kept, and its ingress addresses. */
  onIpcacheEvent(event: IpcacheEvent): void {
    if (isKept(event.entry.identity) || (event.kind === 'upsert' && isKept(event.old?.identity ?? 0))) this.changed();
  }

  onEntryChange({ entry, hasOld, old }: EntryChange): void {
    if (isKept(entry.identity) || (hasOld && isKept(old.identity))) this.changed();
  }

  /** Something that is part of the checkpoint is different now. */
  changed(): void {
    this.#isDirty = true;
    if (this.#timer !== undefined || this.#writing !== undefined) return;
    const due = this.#lastEnd + INTERVAL_MS - this.#setup.clock.monotonic();
    this.#timer = setTimeout(() => this.#begin(), Math.max(0, Math.min(due, INTERVAL_MS)));
  }

  /** Writes the last one; nothing must change any more. @throws {ToolError} when it cannot be written */
  async finish(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#writing;
    clearTimeout(this.#timer);
    await this.#write(true);
  }

  #begin(): void {
    this.#timer = undefined;
    this.#writing = this.#write(false)
      .catch((error: unknown) => {
        if (!(error instanceof ToolError)) throw error;
        this.failures++;
        this.#isDirty = true;
        this.#setup.tell({ kind: 'checkpoint-failed', error });
      })
      .finally(() => {
        this.#writing = undefined;
        this.#lastEnd = this.#setup.clock.monotonic();
        if (this.#isDirty) this.changed();
      });
  }

  async #write(isFinal: boolean): Promise<void> {
    const { state, bootId, clock, tell, facts } = this.#setup;
    const begun = clock.monotonic();
    this.#isDirty = false;
    const keys = await this.#collect();
    const ingress = [...(keys.take(IDENTITY_INGRESS) ?? [])];
    const time = timeText(clock.now());
    const identities = new Counted(this.#identities(keys));
    await state.stream({ ...facts(isFinal), time, bootId, identities, ingress });
    this.writtenAt = clock.now();
    tell({ kind: 'checkpoint', identities: identities.count, ms: clock.monotonic() - begun });
  }

  async #collect(): Promise<NumberedKeys> {
    const { entries } = this.#setup.cache;
    const keys = new NumberedKeys();
    let seen = 0;
    for (const { key, entry } of entries.views()) {
      if (++seen % TURN_ENTRIES === 0) await setImmediate();
      if (isKept(entry.identity) && !this.#isTwice(key, entry.identity)) keys.add(entry.identity, key);
    }
    return keys;
  }

  /** An endpoint and the prefix that it hides are one prefix here. */
  #isTwice(key: PackedKey, identity: number): boolean {
    if (!key.isHostPrefix) return false;
    const { entries } = this.#setup.cache;
    const prefix = key.text();
    return entries.isShadowed(prefix) && entries.get(endpointKeyOf(prefix) ?? '')?.identity === identity;
  }

  /**
   * Made while they are written, and numbers come and go meanwhile: each is in the file once, with the labels that it has
   * when its turn comes.
   */
  *#identities(keys: NumberedKeys): Generator<IdentityDraft> {
    for (const { id, labels } of this.#setup.allocator.identities()) {
      const own = keys.take(id);
      if (own === undefined) continue;
      yield { identity: id, labels: canonicalLabels(labels), labelsFrom: 'listen', prefixes: own };
    }
    // Numbers that a source gave by itself: their labels are not known here.
    for (const identity of keys.numbers()) yield { identity, prefixes: keys.take(identity) ?? [] };
  }
}

/** An iterable that knows how many it has given. */
class Counted<T> implements Iterable<T> {
  readonly #items: Iterable<T>;
  count = 0;

  constructor(items: Iterable<T>) {
    this.#items = items;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const item of this.#items) {
      this.count++;
      yield item;
    }
  }
}

function isKept(identity: number): boolean {
  return identity === IDENTITY_INGRESS || hasLocalScope(identity) || hasRemoteNodeScope(identity);
}
