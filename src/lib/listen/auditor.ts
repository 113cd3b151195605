/**
 * Looks whether the map still has what was written: somebody else who writes it is noticed and counted, and what he
 * changed is written again where that was asked for, until it turns out to be a fight.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { sameBytes } from '../bpf/key-probe.ts';
import { isStored } from '../bpf/presence.ts';
import { prefixTextOf } from '../cache/cache-key.ts';
import type { Ipcache } from '../cache/ipcache.ts';
import type { CacheEntry } from '../cache/listener.ts';
import { writeEventKey } from '../datapath/event-key.ts';
import { ValueEncoder } from '../datapath/event-value.ts';
import type { TunnelRules } from '../datapath/tunnel-endpoint.ts';
import { LayoutError } from '../errors.ts';
import { decodeEntry } from '../ipcache/entry.ts';
import { KEY_BYTES } from '../ipcache/layout.ts';
import type { TellLoop } from './loop-event.ts';
import type { MapFollower } from './map-follower.ts';

export interface AuditorSetup {
  readonly cache: Ipcache;
  readonly follower: MapFollower;
  readonly rules: TunnelRules;
  readonly reassert: boolean;
  readonly monotonic: () => number;
  readonly tell: TellLoop;
}

export interface ForeignCounts {
  /** Entries that somebody else had changed or deleted. */
  changes: number;
  /** Of those, written again. */
  reasserted: number;
  /** Prefixes that are not written again any more. */
  givenUp: number;
}

/** Well under a millisecond. */
const TURN_ENTRIES = 256;
/** Between two rounds. */
const PAUSE_MS = 5_000;
/** After each turn, so many times as long as it took: at most two percent of a core, and never in the way of events. */
const PAUSE_FACTOR = 50;
const LONGEST_PAUSE_MS = 100;
const MANY_PENDING = 4096;
/** So often within the window is a fight. */
const MOST_REASSERTS = 3;
const WINDOW_MS = 60_000;

export class Auditor {
  readonly counts: ForeignCounts = { changes: 0, reasserted: 0, givenUp: 0 };
  readonly #setup: AuditorSetup;
  readonly #values: ValueEncoder;
  readonly #key = new Uint8Array(KEY_BYTES);
  readonly #wanted: Uint8Array;
  readonly #stored: Uint8Array;
  /** What somebody else had changed in the last round, or when it was written again. */
  readonly #changed = new Map<string, number[]>();
  readonly #givenUp = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(setup: AuditorSetup) {
    this.#setup = setup;
    const { layout } = setup.follower;
    this.#values = new ValueEncoder(layout, setup.rules);
    this.#wanted = new Uint8Array(layout.value.bytes);
    this.#stored = new Uint8Array(layout.value.bytes);
  }

  start(onFailure: (error: unknown) => void): void {
    this.#schedule(PAUSE_MS, onFailure);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  /** One round over everything that the cache shows. @returns how many entries were not as they were written */
  async round(): Promise<number> {
    let seen = 0;
    let found = 0;
    let begun = this.#setup.monotonic();
    for (const [key, entry] of this.#setup.cache.entries.entries()) {
      if (++seen % TURN_ENTRIES === 0) {
        await sleep(Math.min((this.#setup.monotonic() - begun) * PAUSE_FACTOR, LONGEST_PAUSE_MS));
        begun = this.#setup.monotonic();
      }
      if (this.#isStopped) break;
      const prefix = prefixTextOf(key);
      if (!(await this.#isAsWritten(key, prefix, entry))) found++;
    }
    return found;
  }

  #schedule(ms: number, onFailure: (error: unknown) => void): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      // What comes in by the thousand goes first.
      if (this.#setup.follower.writer.pending > MANY_PENDING) {
        this.#schedule(PAUSE_MS, onFailure);
        return;
      }
      this.#running = this.round().then(() => this.#schedule(PAUSE_MS, onFailure), onFailure);
    }, ms);
  }

  async #isAsWritten(key: string, prefix: string, entry: CacheEntry): Promise<boolean> {
    const { cache, follower } = this.#setup;
    const { writer, layout } = follower;
    if (entry.identity === 0 || cache.entries.isShadowed(key) || !this.#encode(prefix, entry)) return true;
    const hasValue = writer.map.lookup(this.#key, this.#stored);
    if (hasValue && sameBytes(this.#stored, this.#wanted)) return true;
    if (follower.isReplaying || this.#isPending()) return true;
    const found = hasValue && (await isStored(writer.map, this.#key)) ? this.#words() : 'nothing';
    // The cache may have changed while the map was asked.
    const now = cache.get(key);
    if (now === undefined || !sameInMap(now, entry) || cache.entries.isShadowed(key) || this.#isPending()) return true;
    const wanted = decodeEntry(layout, { keys: this.#key, values: this.#wanted });
    this.#foreign(prefix, entry, { found, expected: words(wanted) });
    return false;
  }

  #foreign(prefix: string, entry: CacheEntry, said: { readonly found: string; readonly expected: string }): void {
    const { follower, reassert, monotonic, tell } = this.#setup;
    const now = monotonic();
    const times = (this.#changed.get(prefix) ?? []).filter((time) => now - time <= WINDOW_MS);
    if (!reassert && this.#changed.has(prefix)) return;
    if (this.#givenUp.has(prefix)) return;
    this.counts.changes++;
    tell({ kind: 'foreign', prefix, ...said });
    this.#changed.set(prefix, [...times, now]);
    if (!reassert) return;
    if (times.length >= MOST_REASSERTS) {
      this.#givenUp.add(prefix);
      this.counts.givenUp++;
      tell({ kind: 'reassert-stopped', prefix });
      return;
    }
    this.counts.reasserted++;
    follower.listener.onIpcacheEvent({ kind: 'upsert', prefix, entry, old: undefined });
  }

  #encode(prefix: string, entry: CacheEntry): boolean {
    try {
      writeEventKey(this.#setup.follower.layout, prefix, this.#key);
      this.#values.write(entry, this.#wanted);
      return true;
    } catch (error) {
      if (error instanceof LayoutError) return false;
      throw error;
    }
  }

  #isPending(): boolean {
    return this.#setup.follower.writer.queues.some((queue) => queue.holds(this.#key));
  }

  #words(): string {
    return words(decodeEntry(this.#setup.follower.layout, { keys: this.#key, values: this.#stored }));
  }
}

function words({ identity, tunnelEndpoint, encryptKey, flagNames }: ReturnType<typeof decodeEntry>): string {
  const tunnel = tunnelEndpoint === undefined ? '' : ` tunnel ${tunnelEndpoint}`;
  const key = encryptKey === 0 ? '' : ` key ${encryptKey}`;
  return `identity ${identity}${tunnel}${key}${flagNames.length === 0 ? '' : ` ${flagNames.join(',')}`}`;
}

function sameInMap(a: CacheEntry, b: CacheEntry): boolean {
  return (
    a.identity === b.identity &&
    a.hostIP === b.hostIP &&
    a.encryptKey === b.encryptKey &&
    a.endpointFlags === b.endpointFlags
  );
}
