/** The map's side of the loop: a cache that is followed into the pinned map, whichever map that is by then. */
import { statSync } from 'node:fs';
import type { BpfMap } from '../bpf/map.ts';
import type { Ipcache } from '../cache/ipcache.ts';
import type { CacheEntry, IpcacheEvent } from '../cache/listener.ts';
import { BpfListener } from '../datapath/bpf-listener.ts';
import { MapWriter } from '../datapath/map-writer.ts';
import { PinGuard } from '../datapath/pin-guard.ts';
import type { TunnelRules } from '../datapath/tunnel-endpoint.ts';
import type { WriteProblem } from '../datapath/write-problem.ts';
import { decodeKey, keyText } from '../ipcache/key.ts';
import type { Layout } from '../ipcache/layout.ts';
import type { PendingWrite } from '../state/checkpoint.ts';
import type { TellLoop } from './loop-event.ts';
import { pendingWrites } from './pending-writes.ts';
import { replayInTurns } from './replay.ts';
import { WriteWatch } from './write-watch.ts';

export interface MapFollowerSetup {
  readonly cache: Ipcache;
  readonly map: BpfMap;
  readonly layout: Layout;
  readonly pin: string;
  readonly rules: TunnelRules;
  readonly allowGap: boolean;
  readonly tell: TellLoop;
  readonly monotonic: () => number;
  readonly random: () => number;
  /** Why another map under the pin must not be written; undefined when it may. */
  readonly refusal: (map: BpfMap) => Promise<Error | undefined>;
  /** What ended the writing. */
  readonly onFailure: (error: unknown) => void;
  readonly onLatency: (seconds: number) => void;
  readonly onOutcome?: ((event: IpcacheEvent, isApplied: boolean) => void) | undefined;
}

/** How often the pin is looked at when nothing is written. */
const LOOK_MS = 1000;

export class MapFollower {
  readonly writer: MapWriter;
  readonly listener: BpfListener;
  readonly guard: PinGuard;
  readonly layout: Layout;
  /** Events that the layout has no place for. */
  unwritable = 0;
  readonly #setup: MapFollowerSetup;
  #look: NodeJS.Timeout | undefined;
  #inode: bigint | undefined;
  #isPinThere = true;
  #replays = 0;
  #hasFailed = false;

  constructor(setup: MapFollowerSetup) {
    const { map, layout, pin, rules, tell, monotonic, onLatency, onOutcome } = setup;
    this.#setup = setup;
    this.layout = layout;
    const watch = new WriteWatch({ writer: () => this.writer, monotonic, onLatency, onOutcome });
    this.writer = new MapWriter({
      map,
      layout,
      timers: { setTimeout, clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout) },
      random: setup.random,
      allowGap: setup.allowGap,
      onOutcome: watch.outcome,
      onProblem: (problem) => this.#tellProblem(problem),
      beforeWrite: () => this.guard.check(),
      onFailure: (error) => {
        this.#hasFailed = true;
        setup.onFailure(error);
      },
      replay: () => this.replay(),
    });
    this.listener = new BpfListener({
      layout,
      rules,
      changes: watch,
      onUnwritable: (event, reason) => {
        this.unwritable++;
        tell({ kind: 'write-problem', problem: 'layout', message: reason.message, prefix: event.prefix });
      },
    });
    this.guard = new PinGuard({
      kernel: map.kernel,
      pin,
      map,
      refusal: setup.refusal,
      onReplaced: (other) => {
        this.writer.useMap(other);
        tell({ kind: 'map-replaced', mapId: other.info.id });
        this.replay();
      },
    });
  }

  get map(): BpfMap {
    return this.writer.map;
  }

  /** Nothing is written any more, because of an error. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** What the map has yet to take. */
  pending(): PendingWrite[] {
    return pendingWrites(this.layout, this.writer.queues, this.writer.lastErrno);
  }

  /** A replay is under way. */
  get isReplaying(): boolean {
    return this.#replays > 0;
  }

  /**
   * Begins to follow: every change, and what the cache has now.
   * @param isInMap what the map was read to have already, which is not written
   * @returns settles when all of that is passed on
   */
  start(isInMap?: (prefix: string, entry: CacheEntry) => boolean): Promise<void> {
    this.#setup.cache.follow(this.listener);
    this.#look = setInterval(() => this.#lookAtPin(), LOOK_MS);
    return this.#replay(isInMap);
  }

  /** Writes everything once more. */
  replay(): void {
    void this.#replay();
  }

  async #replay(isKnown?: (prefix: string, entry: CacheEntry) => boolean): Promise<void> {
    this.#replays++;
    try {
      await replayInTurns(this.#setup.cache, this.listener, { drained: () => this.writer.drained(), isKnown });
    } catch (error) {
      this.#setup.onFailure(error);
    } finally {
      this.#replays--;
    }
  }

  /** No more changes are taken, and none is written. */
  async stop(): Promise<void> {
    clearInterval(this.#look);
    this.#setup.cache.removeListener(this.listener);
    await this.writer.stop();
    this.map[Symbol.dispose]();
  }

  /** A pin that stays the same costs one stat(2); another one is looked at by the writer, before it writes. */
  #lookAtPin(): void {
    const { pin, tell } = this.#setup;
    const inode = statSync(pin, { bigint: true, throwIfNoEntry: false })?.ino;
    if (inode !== this.#inode) this.writer.poke();
    this.#inode = inode;
    const isThere = inode !== undefined;
    if (isThere !== this.#isPinThere) tell({ kind: 'pin', pin, isThere });
    this.#isPinThere = isThere;
  }

  #tellProblem({ kind, message, key }: WriteProblem): void {
    this.#setup.tell({
      kind: 'write-problem',
      problem: kind,
      message,
      ...(key !== undefined && { prefix: keyText(decodeKey(this.layout, key), key) }),
    });
  }
}
