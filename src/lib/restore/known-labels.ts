/** What is known of the labels of numbers, and by whom: the agent's checkpoint, a snapshot, what `ipc` itself remembers. */
import type { IdentityRecord } from '../identity/caching-allocator.ts';
import { cidrLabels } from '../identity/cidr-labels.ts';
import { SOURCE_CIDR } from '../identity/label.ts';
import { parseLabelCidr } from '../identity/label-cidr.ts';
import { scopeForLabels } from '../identity/label-scope.ts';
import type { Labels } from '../identity/labels.ts';
import { SCOPE_LOCAL, scopeBits } from '../identity/numeric-identity.ts';
import type { IdentityOptions } from '../identity/options.ts';
import { ReservedIdentities } from '../identity/reserved-identities.ts';
import { formatPrefix, type Prefix, samePrefixBits } from '../net/prefix.ts';

/** The checkpoint of the agent: the meaning that numbers have now. */
export class KnownLabels {
  readonly options: IdentityOptions;
  readonly #byNumber = new Map<number, Labels>();
  /** Every record of which one may ask by labels, in the order of the checkpoint. */
  readonly #numbered: IdentityRecord[] = [];
  /** Of them, the first one for each label set; made when somebody asks. */
  #byLabels: ReadonlyMap<string, number> | undefined;
  /** Numbers whose labels belong to another scope, or to a fixed number, by now. */
  readonly rescoped: number[] = [];
  /** Numbers that the checkpoint has twice with different labels; the first record counts. */
  readonly repeated: number[] = [];
  /** Numbers whose world label is that of other families than are on now. */
  worldMoved = 0;

  constructor(records: readonly IdentityRecord[] | undefined, options: IdentityOptions) {
    this.options = options;
    const reserved = new ReservedIdentities(options);
    for (const record of records ?? []) {
      const { id, labels } = record;
      const { scope, isFixed } = placeOf(labels, reserved);
      if (scope === 0 || scope !== scopeBits(id) || isFixed) {
        this.rescoped.push(id);
        // It still says that these labels had this number, for whoever has to choose between it and a map.
        if (scope !== 0 && !isFixed) this.#numbered.push(record);
        continue;
      }
      const known = this.#byNumber.get(id);
      if (known !== undefined) {
        if (known.sortedList !== labels.sortedList) this.repeated.push(id);
        continue;
      }
      this.#byNumber.set(id, labels);
      this.#numbered.push(record);
      if (this.#isOfOtherFamilies(labels)) this.worldMoved++;
    }
  }

  /** There is nothing that a number or a label set could disagree with. */
  get isEmpty(): boolean {
    return this.#numbered.length === 0;
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
    this.#byLabels ??= numbersByLabels(this.#numbered);
    return this.#byLabels.get(plainWorld(labels));
  }

  /** The labels that a prefix has by itself. */
  guess(prefix: Prefix): Labels {
    return cidrLabels(prefix, this.options);
  }

  #isOfOtherFamilies(labels: Labels): boolean {
    const dual = this.options.enableIPv4 && this.options.enableIPv6;
    const list = labels.sortedList;
    return dual ? list.includes('reserved:world=;') : /reserved:world-ipv[46]=;/.test(list);
  }
}

/** The label set of a prefix, which nearly all are: of local scope, and no fixed number's. */
const OF_PREFIX = /^cidr:[0-9a-f./-]+=;reserved:world(-ipv[46])?=;$/;

/** Scope bits of a label set, and whether it has a fixed number. */
function placeOf(labels: Labels, reserved: ReservedIdentities): { readonly scope: number; readonly isFixed: boolean } {
  if (OF_PREFIX.test(labels.sortedList)) return { scope: SCOPE_LOCAL, isFixed: false };
  const apart = labels.expand();
  return { scope: scopeForLabels(apart), isFixed: reserved.lookupByLabels(apart) !== undefined };
}

function numbersByLabels(records: readonly IdentityRecord[]): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>();
  for (const { id, labels } of records) {
    const text = plainWorld(labels);
    if (!numbers.has(text)) numbers.set(text, id);
  }
  return numbers;
}

/** Whether two label sets mean the same, if `world` was only split into its families or joined again. */
export function sameMeaning(a: Labels, b: Labels): boolean {
  return a.sortedList === b.sortedList || plainWorld(a) === plainWorld(b);
}

/** Whether the labels cannot be those of the prefix: they are of a network that it does not lie in. */
export function contradicts(prefix: Prefix, labels: Labels): boolean {
  const list = labels.sortedList;
  const first = list.indexOf('cidr:');
  if (first < 0) return false;
  // Nearly always the one network is the prefix itself.
  if (list.startsWith(`cidr:${formatPrefix(prefix)}=;`, first) && list.indexOf('cidr:', first + 1) < 0) return false;
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
