/** The grace period: begins when all sources are synced, and ends the placeholders of the restore. */
import type { Ipcache } from '../cache/ipcache.ts';
import type { MapWriter } from '../datapath/map-writer.ts';
import type { CachingAllocator } from '../identity/caching-allocator.ts';
import type { RestoredState } from '../state/checkpoint.ts';
import { timeText } from './clock.ts';
import type { LoopSetup } from './loop-setup.ts';
import { releaseCache } from './release-cache.ts';
import type { RestoredCache } from './restore-cache.ts';
import type { RestoredPrefixes } from './restored-prefixes.ts';

export interface ReleaserSetup {
  readonly setup: LoopSetup;
  readonly cache: Ipcache;
  readonly allocator: CachingAllocator;
  /** Undefined: nothing was restored, and nothing is released. */
  readonly restored: RestoredCache | undefined;
  readonly writer: MapWriter;
  readonly onChange: () => void;
}

export type Placeholders = Pick<RestoredPrefixes, 'length' | typeof Symbol.iterator>;

export class Releaser {
  readonly #setup: ReleaserSetup;
  readonly #time: string;
  readonly #mapId: number;
  #graceFrom: number | undefined;
  #released: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(setup: ReleaserSetup) {
    this.#setup = setup;
    this.#time = timeText(setup.setup.clock.now());
    this.#mapId = setup.writer.map.info.id;
  }

  /** Placeholders that are still held. */
  get placeholders(): Placeholders {
    return this.#released === undefined ? (this.#setup.restored?.placeholders ?? []) : [];
  }

  /** Milliseconds since the epoch; undefined while the sources are not synced, and after the release. */
  get dueAt(): number | undefined {
    if (this.#graceFrom === undefined || this.#released !== undefined) return undefined;
    return this.#graceFrom + this.#setup.setup.graceMs;
  }

  /** Its part of the checkpoint. */
  get facts(): { readonly restored?: RestoredState; readonly placeholders: Placeholders } {
    const { restored, setup } = this.#setup;
    if (restored === undefined) return { placeholders: [] };
    return {
      restored: {
        time: this.#time,
        mapId: this.#mapId,
        graceMs: setup.graceMs,
        ...(this.#graceFrom !== undefined && { graceFrom: timeText(this.#graceFrom) }),
        ...(this.#released !== undefined && { released: timeText(this.#released) }),
        summary: {
          restored: restored.placeholders.length,
          ingress: restored.ingress,
          conflicts: restored.conflicts.length,
        },
      },
      placeholders: this.placeholders,
    };
  }

  /** All sources are synced: the grace period begins. */
  begin(onFatal: (error: unknown) => void): void {
    const { restored, setup, onChange } = this.#setup;
    if (restored === undefined || this.#graceFrom !== undefined) return;
    this.#graceFrom = setup.clock.now();
    onChange();
    this.#timer = setTimeout(() => this.release().catch(onFatal), setup.graceMs);
  }

  /** Ends the placeholders now. */
  release(): Promise<void> {
    clearTimeout(this.#timer);
    this.#running ??= this.#release();
    return this.#running;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  async #release(): Promise<void> {
    const { cache, allocator, restored, writer, setup, onChange } = this.#setup;
    if (restored === undefined) return;
    const identities = await releaseCache({ cache, allocator, restored, written: () => writer.flush() });
    this.#released = setup.clock.now();
    onChange();
    setup.tell({ kind: 'released', prefixes: restored.placeholders.length, identities });
  }
}
