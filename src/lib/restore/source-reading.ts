/** What a restore keeps of its source: every entry that has a number of its own, and counts of all others. */
import { identityOf } from '../datapath/stored-identity.ts';
import { hasLocalScope, hasRemoteNodeScope } from '../identity/numeric-identity.ts';
import type { Layout } from '../ipcache/layout.ts';
import { storedText } from '../ipcache/stored-text.ts';
import { classifyEntry, type SkipReason } from './entry-class.ts';
import { type Kept, KeptEntries } from './kept-entries.ts';

export interface SourceReading {
  readonly layout: Layout;
  /** Entries of the source. */
  readonly entries: number;
  /** In the order of the source. */
  readonly kept: Kept;
  readonly skipped: ReadonlyMap<SkipReason, number>;
  /** The source was covered. */
  readonly complete: boolean;
  /** Why it was not. */
  readonly reason?: string | undefined;
}

/** Takes entry after entry. */
export class SourceCollector {
  readonly #layout: Layout;
  readonly #skipIngress: boolean;
  readonly #onSkipped: ((prefix: string, identity: number, reason: SkipReason) => void) | undefined;
  readonly #kept = new KeptEntries();
  readonly #skipped = new Map<SkipReason, number>();
  #entries = 0;

  /** @param onSkipped names every entry that a rule skips; costly */
  constructor(
    layout: Layout,
    options: {
      readonly skipIngress?: boolean;
      readonly onSkipped?: ((prefix: string, identity: number, reason: SkipReason) => void) | undefined;
    } = {},
  ) {
    this.#layout = layout;
    this.#skipIngress = options.skipIngress ?? false;
    this.#onSkipped = options.onSkipped;
  }

  /** @returns whether the entry is restored by its number, and not skipped */
  add(keys: Uint8Array, key: number, values: Uint8Array, value: number): boolean {
    const layout = this.#layout;
    this.#entries++;
    const kind = classifyEntry(layout, { keys, key, values, value }, this.#skipIngress);
    const isRestored = kind === 'local' || kind === 'ingress';
    if (!isRestored) this.#skipped.set(kind, (this.#skipped.get(kind) ?? 0) + 1);
    if (kind === 'global-scope' && this.#onSkipped === undefined) return false;
    const identity = identityOf(layout, values, value);
    const hasOwnNumber = hasLocalScope(identity) || hasRemoteNodeScope(identity);
    if (!isRestored && !hasOwnNumber && this.#onSkipped === undefined) return false;
    const prefix = storedText(layout, keys, key);
    if (isRestored || hasOwnNumber) this.#kept.add(prefix, identity, kind);
    if (!isRestored) this.#onSkipped?.(prefix, identity, kind);
    return isRestored;
  }

  end(complete: boolean, reason?: string): SourceReading {
    return {
      layout: this.#layout,
      entries: this.#entries,
      kept: this.#kept,
      skipped: this.#skipped,
      complete,
      reason,
    };
  }
}
