/**
 * A set of labels, keyed by **map key** (Cilium 1.21, pkg/labels). The map key is the label's key, so one key from two
 * sources cannot live in one set; only a checkpoint file can hold a map key that differs, and then it decides order and
 * membership. Sets are values: nothing changes one after it was made.
 */
import { formatForKvstore, formatLabel, type Label, parseLabel, sameLabel } from './label.ts';
import { compareText } from './utf8-text.ts';

export interface LabelEntry {
  readonly mapKey: string;
  readonly label: Label;
}

export class Labels implements Iterable<Label> {
  static readonly EMPTY = new Labels([], '');

  /** By bytes of the map key; absent in a compact set, which reads its sorted list each time. */
  readonly #entries: readonly LabelEntry[] | undefined;
  #sortedList: string | undefined;
  /** The compact set that this one was read from. */
  readonly #compact: Labels | undefined;

  private constructor(
    entries: readonly LabelEntry[] | undefined,
    sortedList: string | undefined,
    compact?: Labels | undefined,
  ) {
    this.#entries = entries;
    this.#sortedList = sortedList;
    this.#compact = compact;
  }

  /** A set of labels under their own keys; of two with one key the later one stays. */
  static of(labels: Iterable<Label>): Labels {
    const entries: LabelEntry[] = [];
    for (const label of labels) put(entries, { mapKey: label.key, label });
    return entries.length === 0 ? Labels.EMPTY : new Labels(entries, undefined);
  }

  /** A set under map keys that may differ from the labels' keys; the later one of two stays. */
  static fromEntries(from: Iterable<LabelEntry>): Labels {
    const entries: LabelEntry[] = [];
    for (const entry of from) put(entries, entry);
    return entries.length === 0 ? Labels.EMPTY : new Labels(entries, undefined);
  }

  /** Reads each text as a label; those without a key are left out. */
  static parse(texts: Iterable<string>): Labels {
    const labels: Label[] = [];
    for (const text of texts) {
      const label = parseLabel(text);
      if (label.key !== '') labels.push(label);
    }
    return Labels.of(labels);
  }

  /** Reads what `sortedList` gives. A value with `;` in it does not survive that form. */
  static fromSortedList(text: string): Labels {
    return Labels.parse(text.split(';'));
  }

  /**
   * A compact set from a sorted list that is known to give back every label as it was: keys and values without `;`,
   * keys without `=`, sources without `:` that are not empty.
   */
  static fromReversibleList(sortedList: string): Labels {
    return new Labels(undefined, sortedList);
  }

  get size(): number {
    return this.entries().length;
  }

  /** In the order of the map keys' bytes. */
  entries(): readonly LabelEntry[] {
    return this.#entries ?? Labels.fromSortedList(this.sortedList).entries();
  }

  *[Symbol.iterator](): Iterator<Label> {
    for (const { label } of this.entries()) yield label;
  }

  get(mapKey: string): Label | undefined {
    return this.entries().find((entry) => entry.mapKey === mapKey)?.label;
  }

  /** Looks at the map key alone, whatever source or value the label has. */
  has(mapKey: string): boolean {
    return this.get(mapKey) !== undefined;
  }

  some(test: (label: Label) => boolean): boolean {
    return this.entries().some(({ label }) => test(label));
  }

  /** The canonical form of an identity and its kvstore key: `source:key=value;` for each label, by map key. */
  get sortedList(): string {
    if (this.#sortedList === undefined) {
      // Joined, not added up: that would keep every piece alive beside the whole.
      this.#sortedList = this.entries()
        .map(({ label }) => formatForKvstore(label))
        .join('');
    }
    return this.#sortedList;
  }

  /** `source:key=value`, or `source:key` without a value, by map key. A compact set needs no parsing for it. */
  texts(): string[] {
    if (this.#entries !== undefined) return this.#entries.map(({ label }) => formatLabel(label));
    const texts = this.sortedList.split(';').slice(0, -1);
    // Keys have no `=`: the first one behind the source ends the key, and a last one that is also the first is all there is.
    return texts.map((text) => (text.indexOf('=', text.indexOf(':')) === text.length - 1 ? text.slice(0, -1) : text));
  }

  /** This set with those of `from` added; on one map key those of `from` win. */
  merge(from: Labels): Labels {
    if (from.size === 0) return this;
    if (this.size === 0) return from;
    return Labels.fromEntries([...this.entries(), ...from.entries()]);
  }

  /** This set without the map keys of `other`, whatever label stands there. */
  without(other: Labels): Labels {
    return this.filter((_, mapKey) => !other.has(mapKey));
  }

  filter(keep: (label: Label, mapKey: string) => boolean): Labels {
    const entries = this.entries().filter(({ label, mapKey }) => keep(label, mapKey));
    return entries.length === this.size ? this : Labels.fromEntries(entries);
  }

  /** Same map keys with the same source, key and value. */
  equals(other: Labels): boolean {
    const mine = this.entries();
    const theirs = other.entries();
    return (
      mine.length === theirs.length &&
      mine.every(({ mapKey, label }, i) => {
        const entry = theirs[i];
        return entry !== undefined && entry.mapKey === mapKey && sameLabel(entry.label, label);
      })
    );
  }

  /**
   * The same set in a form that holds one string, for keeping very many; reading its labels costs a parse each time.
   * Sets that the sorted list cannot give back are returned as they are.
   */
  compact(): Labels {
    if (this.#entries === undefined) return this;
    if (this.#compact !== undefined) return this.#compact;
    return this.#entries.every(survivesSortedList) ? new Labels(undefined, this.sortedList) : this;
  }

  /** The same set with its labels at hand, for asking it several things; `compact` gives this very set back. */
  expand(): Labels {
    return this.#entries === undefined ? new Labels(this.entries(), this.sortedList, this) : this;
  }
}

/** Sets are small: an insertion from the end is one comparison for labels that come in order. */
function put(entries: LabelEntry[], entry: LabelEntry): void {
  let at = entries.length;
  while (at > 0) {
    const before = entries[at - 1];
    if (before === undefined) break;
    const order = compareText(before.mapKey, entry.mapKey);
    if (order < 0) break;
    if (order === 0) {
      entries[at - 1] = entry;
      return;
    }
    at--;
  }
  entries.splice(at, 0, entry);
}

/** Whether reading the sorted list gives this very label back. */
function survivesSortedList({ mapKey, label: { source, key, value, cidr } }: LabelEntry): boolean {
  if (mapKey !== key || cidr !== undefined || key === '' || source === '' || source.startsWith('$')) return false;
  return !/[:;]/.test(source) && !/[=;]/.test(key) && !value.includes(';');
}
