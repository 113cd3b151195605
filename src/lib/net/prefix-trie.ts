/**
 * A path-compressed binary trie of prefixes of one family, for "everything inside" and "everything that covers".
 * Nodes live in typed arrays: about 20 bytes a node for IPv4, 35 for IPv6, and at most two nodes a prefix.
 */

import type { Family } from './address.ts';
import { addressBits } from './prefix.ts';

const ROOT = 0;
const NONE = 0;
const FIRST_CAPACITY = 16;

export class PrefixTrie<T> {
  readonly #width: number;
  readonly #key: Uint32Array;
  #children = new Int32Array(2 * FIRST_CAPACITY);
  #lengths = new Uint8Array(FIRST_CAPACITY);
  #words: Uint32Array;
  readonly #values: (T | undefined)[] = [undefined];
  #used = 1;
  /** Head of the list of unused nodes, chained through their first child. */
  #free = NONE;
  #size = 0;

  constructor(family: Family) {
    this.#width = addressBits(family) / 32;
    this.#key = new Uint32Array(this.#width);
    this.#words = new Uint32Array(this.#width * FIRST_CAPACITY);
  }

  get size(): number {
    return this.#size;
  }

  get(address: Uint8Array, length: number): T | undefined {
    this.#load(address, length);
    const node = this.#descend(length);
    return this.#lengths[node] === length && this.#common(node) >= length ? this.#values[node] : undefined;
  }

  /** Host bits of the address are ignored. */
  set(address: Uint8Array, length: number, value: T): void {
    this.#load(address, length);
    const node = this.#place(length);
    if (this.#values[node] === undefined) this.#size++;
    this.#values[node] = value;
  }

  /** @returns whether the prefix was there */
  delete(address: Uint8Array, length: number): boolean {
    this.#load(address, length);
    let grandparent = NONE;
    let parent = NONE;
    let node = ROOT;
    while (this.#length(node) < length) {
      grandparent = parent;
      parent = node;
      node = this.#child(node, this.#bit(this.#length(node)));
      if (node === NONE) return false;
    }
    if (this.#length(node) !== length || this.#common(node) < length || this.#values[node] === undefined) return false;
    this.#values[node] = undefined;
    this.#size--;
    if (node !== ROOT) this.#prune(node, parent, grandparent);
    return true;
  }

  /** Visits the prefix itself and every longer one inside it. The trie must not change meanwhile. */
  forEachWithin(address: Uint8Array, length: number, visit: (value: T) => void): void {
    this.#load(address, length);
    let node = ROOT;
    while (this.#length(node) < length) {
      node = this.#child(node, this.#bit(this.#length(node)));
      if (node === NONE) return;
    }
    if (this.#common(node) < length) return;
    const pending = [node];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const value = this.#values[next];
      if (value !== undefined) visit(value);
      const left = this.#child(next, 0);
      const right = this.#child(next, 1);
      if (right !== NONE) pending.push(right);
      if (left !== NONE) pending.push(left);
    }
  }

  /** The shorter prefixes that cover this one, longest first, without the prefix itself. */
  covering(address: Uint8Array, length: number): T[] {
    this.#load(address, length);
    const found: T[] = [];
    let node = ROOT;
    while (this.#length(node) < length && this.#common(node) >= this.#length(node)) {
      const value = this.#values[node];
      if (value !== undefined) found.push(value);
      node = this.#child(node, this.#bit(this.#length(node)));
      if (node === NONE) break;
    }
    return found.reverse();
  }

  /** In no particular order. The trie must not change meanwhile. */
  *values(): IterableIterator<T> {
    for (const value of this.#values) if (value !== undefined) yield value;
  }

  #load(address: Uint8Array, length: number): void {
    for (let word = 0; word < this.#width; word++) {
      const at = word * 4;
      const bits =
        ((address[at] ?? 0) << 24) |
        ((address[at + 1] ?? 0) << 16) |
        ((address[at + 2] ?? 0) << 8) |
        (address[at + 3] ?? 0);
      const kept = length - word * 32;
      this.#key[word] = kept >= 32 ? bits : kept <= 0 ? 0 : bits & (-1 << (32 - kept));
    }
  }

  /** The first node on the way to the key that is at least `length` long, or the last one there is. */
  #descend(length: number): number {
    let node = ROOT;
    while (this.#length(node) < length) {
      const next = this.#child(node, this.#bit(this.#length(node)));
      if (next === NONE) return node;
      node = next;
    }
    return node;
  }

  /** Finds or makes the node of the key. */
  #place(length: number): number {
    let node = ROOT;
    while (this.#length(node) !== length) {
      const side = this.#bit(this.#length(node));
      const next = this.#child(node, side);
      if (next === NONE) return this.#link(node, side, this.#make(length));
      const shared = Math.min(this.#common(next), this.#length(next), length);
      if (shared === this.#length(next)) {
        node = next;
        continue;
      }
      const fork = this.#link(node, side, this.#make(shared));
      const nextSide = this.#bitOf(next, shared);
      this.#link(fork, nextSide, next);
      return shared === length ? fork : this.#link(fork, 1 - nextSide, this.#make(length));
    }
    return node;
  }

  /** Removes a node without a value where it no longer joins two subtrees, and its parent where that became useless. */
  #prune(node: number, parent: number, grandparent: number): void {
    const left = this.#child(node, 0);
    const right = this.#child(node, 1);
    if (left !== NONE && right !== NONE) return;
    this.#replace(parent, node, left === NONE ? right : left);
    this.#recycle(node);
    if (left !== NONE || right !== NONE || parent === ROOT || this.#values[parent] !== undefined) return;
    const rest = this.#child(parent, 0) === NONE ? this.#child(parent, 1) : this.#child(parent, 0);
    this.#replace(grandparent, parent, rest);
    this.#recycle(parent);
  }

  #replace(parent: number, node: number, by: number): void {
    this.#link(parent, this.#child(parent, 0) === node ? 0 : 1, by);
  }

  #recycle(node: number): void {
    this.#children[2 * node] = this.#free;
    this.#children[2 * node + 1] = NONE;
    this.#free = node;
  }

  #make(length: number): number {
    let node = this.#free;
    if (node !== NONE) {
      this.#free = this.#children[2 * node] ?? NONE;
      this.#children[2 * node] = NONE;
    } else {
      if (this.#used === this.#lengths.length) this.#grow();
      node = this.#used++;
      this.#values.push(undefined);
    }
    this.#lengths[node] = length;
    this.#words.set(this.#key, node * this.#width);
    return node;
  }

  #grow(): void {
    const capacity = this.#lengths.length * 2;
    const children = new Int32Array(2 * capacity);
    children.set(this.#children);
    this.#children = children;
    const lengths = new Uint8Array(capacity);
    lengths.set(this.#lengths);
    this.#lengths = lengths;
    const words = new Uint32Array(this.#width * capacity);
    words.set(this.#words);
    this.#words = words;
  }

  #link(parent: number, side: number, child: number): number {
    this.#children[2 * parent + side] = child;
    return child;
  }

  #child(node: number, side: number): number {
    return this.#children[2 * node + side] ?? NONE;
  }

  #length(node: number): number {
    return this.#lengths[node] ?? 0;
  }

  #bit(position: number): number {
    return ((this.#key[position >> 5] ?? 0) >>> (31 - (position & 31))) & 1;
  }

  #bitOf(node: number, position: number): number {
    return ((this.#words[node * this.#width + (position >> 5)] ?? 0) >>> (31 - (position & 31))) & 1;
  }

  /** How many leading bits the key and the words of a node share; bits beyond the node's length mean nothing. */
  #common(node: number): number {
    const at = node * this.#width;
    for (let word = 0; word < this.#width; word++) {
      const difference = (this.#key[word] ?? 0) ^ (this.#words[at + word] ?? 0);
      if (difference !== 0) return word * 32 + Math.clz32(difference);
    }
    return this.#width * 32;
  }
}
