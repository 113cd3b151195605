/** What is known of the labels of numbers, and by whom: the agent's checkpoint, a snapshot, what `ipc` itself remembers. */
import type { IdentityRecord } from '../identity/caching-allocator.ts';
import { cidrLabels } from '../identity/cidr-labels.ts';
import { SOURCE_CIDR } from '../identity/label.ts';
import { parseLabelCidr } from '../identity/label-cidr.ts';
import { scopeForLabels } from '../identity/label-scope.ts';
import type { Labels } from '../identity/labels.ts';
import { scopeBits } from '../identity/numeric-identity.ts';
import type { IdentityOptions } from '../identity/options.ts';
import { ReservedIdentities } from '../identity/reserved-identities.ts';
import { type Prefix, samePrefixBits } from '../net/prefix.ts';

/** The checkpoint of the agent: the meaning that numbers have now. */
export class KnownLabels {
  readonly options: IdentityOptions;
  readonly #byNumber = new Map<number, Labels>();
  readonly #byLabels = new Map<string, number>();
  /** Numbers whose labels belong to another scope, or to a fixed number, by now. */
  readonly rescoped: number[] = [];
  /** Numbers that the checkpoint has twice with different labels; the first record counts. */
  readonly repeated: number[] = [];
  /** Numbers whose world label is that of other families than are on now. */
  worldMoved = 0;

  constructor(records: readonly IdentityRecord[] | undefined, options: IdentityOptions) {
    this.options = options;
    const reserved = new ReservedIdentities(options);
    for (const { id, labels } of records ?? []) {
      const scope = scopeForLabels(labels);
      const isFixed = reserved.lookupByLabels(labels) !== undefined;
      if (scope === 0 || scope !== scopeBits(id) || isFixed) {
        this.rescoped.push(id);
        // It still says that these labels had this number, for whoever has to choose between it and a map.
        if (scope !== 0 && !isFixed) this.#noteNumber(labels, id);
        continue;
      }
      const known = this.#byNumber.get(id);
      if (known !== undefined) {
        if (known.sortedList !== labels.sortedList) this.repeated.push(id);
        continue;
      }
      this.#byNumber.set(id, labels);
      this.#noteNumber(labels, id);
      if (this.#isOfOtherFamilies(labels)) this.worldMoved++;
    }
  }

  /** There is nothing that a number or a label set could disagree with. */
  get isEmpty(): boolean {
    return this.#byLabels.size === 0;
  }

  get size(): number {
    return this.#byNumber.size;
  }

  /** Every number that the checkpoint gives labels, in its order. */
  entries(): IterableIterator<[number, Labels]> {
    return this.#byNumber.entries();
  }

  labels(id: number): Labels | undefined {
    return this.#byNumber.get(id);
  }

  /** The number of a label set; `world` and `world-ipv4` are one label here. */
  numberOf(labels: Labels): number | undefined {
    return this.#byLabels.get(plainWorld(labels));
  }

  /** The labels that a prefix has by itself. */
  guess(prefix: Prefix): Labels {
    return cidrLabels(prefix, this.options);
  }

  #noteNumber(labels: Labels, id: number): void {
    const text = plainWorld(labels);
    if (!this.#byLabels.has(text)) this.#byLabels.set(text, id);
  }

  #isOfOtherFamilies(labels: Labels): boolean {
    const dual = this.options.enableIPv4 && this.options.enableIPv6;
    const list = labels.sortedList;
    return dual ? list.includes('reserved:world=;') : /reserved:world-ipv[46]=;/.test(list);
  }
}

/** Whether two label sets mean the same, if `world` was only split into its families or joined again. */
export function sameMeaning(a: Labels, b: Labels): boolean {
  return a.sortedList === b.sortedList || plainWorld(a) === plainWorld(b);
}

/** Whether the labels cannot be those of the prefix: they are of a network that it does not lie in. */
export function contradicts(prefix: Prefix, labels: Labels): boolean {
  if (!labels.sortedList.includes('cidr:')) return false;
  for (const label of labels) {
    if (label.source !== SOURCE_CIDR) continue;
    const cidr = parseLabelCidr(label.key);
    if (cidr === undefined || cidr.address.length !== prefix.address.length) continue;
    if (cidr.length > prefix.length || !samePrefixBits(cidr.address, prefix.address, cidr.length)) return true;
  }
  return false;
}

/** The sorted list with the world labels of the families made one. */
function plainWorld(labels: Labels): string {
  const { sortedList } = labels;
  return sortedList.includes('reserved:world-ipv')
    ? sortedList.replace(/reserved:world-ipv[46]=;/g, 'reserved:world=;')
    : sortedList;
}
