/**
 * What a restore will do, prefix by prefix, decided without touching anything. The outgoing map is the authority for
 * numbers; what is known of labels only says what the numbers mean. An entry that is there is never renumbered unless the
 * user prefers the checkpoint, and none is ever deleted.
 */
import type { Labels } from '../identity/labels.ts';
import {
  hasLocalScope,
  hasRemoteNodeScope,
  type NumericIdentity,
  numericIdentity,
} from '../identity/numeric-identity.ts';
import type { Prefix } from '../net/prefix.ts';
import { parseStoredPrefix } from '../snapshot/stored-prefix.ts';
import { contradicts, type KnownLabels, sameMeaning } from './known-labels.ts';
import type { ConflictReason, PlannedEntry, RestorePlan } from './planned-entry.ts';
import type { SourceReading } from './source-reading.ts';

/** What the map that is written has now. */
export interface TargetView {
  /** The number that exactly this prefix has. @returns undefined when it is not there */
  identityOf(prefix: Prefix): number | undefined;
  /** Whether what answers for the prefix now has a tunnel or a key that a new entry without them would hide. */
  wouldLoseTunnel(prefix: Prefix): boolean;
  /** Local and remote-node numbers in it, each with how many of its entries the source does not have so. */
  readonly numbers: ReadonlyMap<number, number>;
}

export interface PlanInput {
  readonly source: SourceReading;
  /** What numbers mean now: the agent's checkpoint. */
  readonly known: KnownLabels;
  /** What the source itself says of a number's labels: a snapshot does. */
  readonly labelsInSource?: ((id: number) => Labels | undefined) | undefined;
  /** What `ipc` remembers of a number that this prefix had. */
  readonly remembered?: ((id: number, prefix: string) => Remembered | undefined) | undefined;
  /** `same`: the source map itself is written; `new`: an empty map. */
  readonly target: 'same' | 'new' | TargetView;
  readonly preferCheckpoint?: boolean;
  /** Guessed labels are left to `guessedLabelTexts` where nothing has to be compared with them. */
  readonly lazyGuesses?: boolean;
}

export interface Remembered {
  readonly labels: Labels;
  readonly labelsFrom: 'allocator' | 'snapshot' | 'listen' | 'agent' | 'guessed';
}

/** Plans every entry that the source reading kept. */
export function planRestore(input: PlanInput): RestorePlan {
  const planner = new RestorePlanner(input);
  const entries: PlannedEntry[] = [];
  planner.forEach((entry) => void entries.push(entry));
  return { entries, withheld: planner.withheld(), rescoped: input.known.rescoped };
}

/** Plans entry by entry, for who does something with each and keeps none. */
export class RestorePlanner {
  readonly #input: PlanInput;
  readonly #uses = new Map<number, number>();
  /** Nothing is known that could disagree with an entry. */
  readonly #isPlain: boolean;

  constructor(input: PlanInput) {
    const { known, target, labelsInSource, lazyGuesses } = input;
    this.#input = input;
    this.#isPlain = lazyGuesses === true && known.isEmpty && typeof target === 'string' && labelsInSource === undefined;
    input.source.kept.forEach(({ identity, class: kind }) => {
      if (kind === 'local') this.#uses.set(identity, (this.#uses.get(identity) ?? 0) + 1);
    });
  }

  /** Every entry that is restored by its number, in the order of the source. */
  forEach(visit: (entry: PlannedEntry) => void): void {
    this.#input.source.kept.forEach(({ prefix, identity, class: kind }) => {
      if (kind !== 'local' && kind !== 'ingress') return;
      visit(this.#isPlain ? this.#plain(prefix, identity, kind) : this.#plan(prefix, identity, kind));
    });
  }

  /** Every local and remote-node number in the source, the target and the checkpoint: none may mean something else. */
  withheld(): Set<NumericIdentity> {
    const { source, target, known } = this.#input;
    const numbers = new Set<NumericIdentity>();
    source.kept.forEach(({ identity }) => {
      if (isAllocated(identity)) numbers.add(numericIdentity(identity));
    });
    if (typeof target !== 'string') for (const id of target.numbers.keys()) numbers.add(numericIdentity(id));
    for (const [id] of known.entries()) numbers.add(numericIdentity(id));
    for (const id of known.rescoped) if (isAllocated(id)) numbers.add(numericIdentity(id));
    return numbers;
  }

  #plain(prefix: string, identity: number, kind: 'local' | 'ingress'): PlannedEntry {
    const action = this.#input.target === 'same' ? 'keep' : 'add';
    if (kind === 'ingress') return { prefix, identity, kind, action };
    const before = this.#input.remembered?.(identity, prefix);
    if (before !== undefined && before.labelsFrom !== 'guessed') {
      const { labels, labelsFrom } = before;
      return { prefix, identity, kind: 'known', labels, labelsFrom, action };
    }
    if (this.#uses.get(identity) !== 1) return { prefix, identity, kind: 'unknown', action };
    return { prefix, identity, kind: 'guessed', labelsFrom: 'guessed', action };
  }

  #plan(text: string, identity: number, kind: 'local' | 'ingress'): PlannedEntry {
    const prefix = parseStoredPrefix(text);
    if (prefix === undefined) throw new TypeError(`${text} is no prefix`);
    const { target } = this.#input;
    const present = target === 'same' ? identity : target === 'new' ? undefined : target.identityOf(prefix);
    if (kind === 'ingress') {
      const entry = { prefix: text, identity, kind: 'ingress' as const };
      if (present === undefined) return this.#add(prefix, entry);
      return present === identity ? { ...entry, action: 'keep' } : conflict(entry, 'renumbered', present);
    }
    return this.#planLocal(prefix, present, this.#labelled(prefix, text, identity));
  }

  #planLocal(prefix: Prefix, present: number | undefined, entry: Unplanned): PlannedEntry {
    const preferred = this.#preferred(entry);
    if (preferred !== undefined && this.#input.preferCheckpoint === true) {
      const updated = { ...entry, kind: 'known' as const, identity: preferred, was: present ?? entry.identity };
      if (present === preferred) return { ...updated, action: 'keep' };
      return present === undefined
        ? this.#add(prefix, updated)
        : { ...updated, action: 'update', reason: 'prefer-checkpoint', was: present };
    }
    if (present !== undefined && present !== entry.identity) return conflict(entry, 'renumbered', present);
    if (this.#isReused(prefix, entry, present !== undefined)) return conflict(entry, 'number-reused');
    const planned: PlannedEntry = present === undefined ? this.#add(prefix, entry) : { ...entry, action: 'keep' };
    if (preferred === undefined || planned.action === 'conflict') return planned;
    return { ...conflict(entry, 'other-number-in-checkpoint', preferred), writes: planned.action === 'add' };
  }

  #add(prefix: Prefix, entry: Unplanned): PlannedEntry {
    const { target } = this.#input;
    const loses = typeof target !== 'string' && target.wouldLoseTunnel(prefix);
    return loses ? conflict(entry, 'would-lose-tunnel') : { ...entry, action: 'add' };
  }

  #labelled(prefix: Prefix, text: string, identity: number): Unplanned {
    const { known, labelsInSource, remembered } = this.#input;
    const ofSource = labelsInSource?.(identity);
    if (ofSource !== undefined) return knownEntry(text, identity, { labels: ofSource, labelsFrom: 'snapshot' });
    const now = known.labels(identity);
    if (now !== undefined) return knownEntry(text, identity, { labels: now, labelsFrom: 'allocator' });
    const before = remembered?.(identity, text);
    if (before !== undefined && before.labelsFrom !== 'guessed') return knownEntry(text, identity, before);
    if (this.#uses.get(identity) !== 1) return { prefix: text, identity, kind: 'unknown' };
    const isLazy = this.#input.lazyGuesses === true && known.isEmpty;
    if (isLazy) return { prefix: text, identity, kind: 'guessed', labelsFrom: 'guessed' };
    return { prefix: text, identity, kind: 'guessed', labels: known.guess(prefix), labelsFrom: 'guessed' };
  }

  /** The number that the checkpoint has for the labels of the entry, where it is another one. */
  #preferred({ labels, identity }: Unplanned): number | undefined {
    const { known } = this.#input;
    if (labels === undefined || known.labels(identity) !== undefined) return undefined;
    const number = known.numberOf(labels);
    return number === identity ? undefined : number;
  }

  /** Whether the number means something else now than it did for this prefix. */
  #isReused(prefix: Prefix, { identity, labels, labelsFrom }: Unplanned, isThere: boolean): boolean {
    const { known, target } = this.#input;
    const now = known.labels(identity);
    if (now !== undefined) {
      return labelsFrom === 'snapshot' && labels !== undefined ? !sameMeaning(now, labels) : contradicts(prefix, now);
    }
    // Nobody knows what it means, and entries that the source does not have have it.
    return !isThere && typeof target !== 'string' && (target.numbers.get(identity) ?? 0) > 0;
  }
}

type Unplanned = Omit<PlannedEntry, 'action' | 'reason' | 'writes' | 'other'>;

function knownEntry(prefix: string, identity: number, { labels, labelsFrom }: Remembered): Unplanned {
  return { prefix, identity, kind: 'known', labels, labelsFrom };
}

function conflict(entry: Unplanned, reason: ConflictReason, other?: number): PlannedEntry {
  return { ...entry, action: 'conflict', reason, ...(other !== undefined && { other }) };
}

function isAllocated(id: number): boolean {
  return hasLocalScope(id) || hasRemoteNodeScope(id);
}
