/**
 * A longest-prefix-match structure in memory with the kernel's shape and semantics (kernel/bpf/lpm_trie.c): a binary
 * trie with path compression, keys as in lpm-order.ts, listed in post-order. Nodes are numbers into flat arrays, about
 * 40 bytes each beside the value, at most two an entry.
 */
import { dataBit, prefixlenOf, setPrefixlen } from '../../src/lib/net/lpm-order.ts';

/** The number of no node. */
const NONE = 0;
const FIRST_CAPACITY = 64;

/** Where a search ended: the nodes from the root on, and how far the last one agrees with the key. */
export interface LpmPath {
  readonly nodes: number[];
  /** Leading bits that the last node shares with the key. */
  readonly matched: number;
  /** The last node agrees in all its bits and has no child on the key's side. */
  readonly ended: boolean;
}

export class LpmTrie<Value> {
  readonly keyBytes: number;
  readonly maxBits: number;
  #keys: Uint8Array;
  #children: Int32Array;
  /** Undefined for the intermediate nodes that only branch. */
  readonly #values: (Value | undefined)[] = [undefined];
  readonly #free: number[] = [];
  #root = NONE;
  #used = 1;
  #size = 0;

  /** @param keyBytes 4 bytes of length and the data; 24 for an ipcache key. */
  constructor(keyBytes = 24) {
    this.keyBytes = keyBytes;
    this.maxBits = (keyBytes - 4) * 8;
    this.#keys = new Uint8Array(FIRST_CAPACITY * keyBytes);
    this.#children = new Int32Array(FIRST_CAPACITY * 2);
  }

  /** Entries, without the nodes that only branch. */
  get size(): number {
    return this.#size;
  }

  /** Adds the entry or replaces its value and, as the kernel does, the host bits of its key. The key is copied. */
  set(key: Uint8Array, value: Value): void {
    const length = prefixlenOf(key);
    if (length > this.maxBits) throw new RangeError(`a prefixlen of ${length} is beyond ${this.maxBits} bits`);
    const { nodes, matched, ended } = this.search(key);
    const last = nodes.at(-1) ?? NONE;
    if (last !== NONE && !ended && this.lengthOf(last) === matched) {
      if (this.#values[last] === undefined) this.#size++;
      this.#keys.set(key.subarray(0, this.keyBytes), last * this.keyBytes);
      this.#values[last] = value;
      return;
    }
    this.#size++;
    const made = this.#make(key, length, value);
    if (last === NONE) this.#root = made;
    else if (ended) this.#children[last * 2 + dataBit(key, 0, this.lengthOf(last))] = made;
    else this.#split(nodes, made, key, matched);
  }

  /** @returns undefined where exactly this prefix is not stored. */
  get(key: Uint8Array): Value | undefined {
    return this.#values[this.#exact(this.search(key), key)];
  }

  /** The value of the longest stored prefix that covers the key. */
  match(key: Uint8Array): Value | undefined {
    return this.#values[this.#covering(key).at(-1) ?? NONE];
  }

  /** Every stored prefix that covers the key, itself included, the narrowest first. */
  matches(key: Uint8Array): { length: number; value: Value }[] {
    const found: { length: number; value: Value }[] = [];
    for (const node of this.#covering(key).reverse()) {
      const value = this.#values[node];
      if (value !== undefined) found.push({ length: this.lengthOf(node), value });
    }
    return found;
  }

  /** Exact in length and bits. @returns false where it is not stored. */
  delete(key: Uint8Array): boolean {
    const path = this.search(key);
    const node = this.#exact(path, key);
    if (node === NONE) return false;
    this.#size--;
    this.#values[node] = undefined;
    if (this.childOf(node, 0) !== NONE && this.childOf(node, 1) !== NONE) return true;
    const only = this.childOf(node, 0) || this.childOf(node, 1);
    const parent = path.nodes.at(-2) ?? NONE;
    this.#replace(parent, node, only);
    this.#free.push(node);
    if (only === NONE && parent !== NONE && this.#values[parent] === undefined) {
      this.#replace(path.nodes.at(-3) ?? NONE, parent, this.childOf(parent, 0) || this.childOf(parent, 1));
      this.#free.push(parent);
    }
    return true;
  }

  /** The stored key listed after `previous`, or the first; undefined at the end and where `previous` is not stored. */
  nextKey(previous?: Uint8Array): Uint8Array | undefined {
    if (previous === undefined) return this.firstKey();
    const path = this.search(previous);
    return this.#exact(path, previous) === NONE ? undefined : this.keyAfter(path.nodes);
  }

  /** The first stored key in listing order. */
  firstKey(): Uint8Array | undefined {
    return this.#root === NONE ? undefined : this.#leftmost(this.#root);
  }

  /** The nodes from the root towards the key. */
  protected search(key: Uint8Array): LpmPath {
    const length = prefixlenOf(key);
    const nodes: number[] = [];
    for (let node = this.#root; node !== NONE; node = this.childOf(node, dataBit(key, 0, this.lengthOf(node)))) {
      nodes.push(node);
      const matched = this.#shared(node, key, length);
      if (matched !== this.lengthOf(node) || matched === length) return { nodes, matched, ended: false };
    }
    return { nodes, matched: this.lengthOf(nodes.at(-1) ?? NONE), ended: true };
  }

  /** The stored key listed after the last node of a path from the root; undefined at the end. */
  protected keyAfter(nodes: readonly number[]): Uint8Array | undefined {
    for (let i = nodes.length - 1; i > 0; i--) {
      const parent = nodes[i - 1] ?? NONE;
      const right = this.childOf(parent, 1);
      if (this.childOf(parent, 0) === nodes[i] && right !== NONE) return this.#leftmost(right);
      if (this.isEntry(parent)) return this.#keyOf(parent);
    }
    return undefined;
  }

  protected get root(): number {
    return this.#root;
  }

  protected lengthOf(node: number): number {
    return node === NONE ? 0 : prefixlenOf(this.#keys, node * this.keyBytes);
  }

  /** @returns 0 for none. */
  protected childOf(node: number, side: 0 | 1): number {
    return this.#children[node * 2 + side] ?? NONE;
  }

  protected isEntry(node: number): boolean {
    return this.#values[node] !== undefined;
  }

  #exact({ nodes, matched, ended }: LpmPath, key: Uint8Array): number {
    const last = nodes.at(-1) ?? NONE;
    const length = prefixlenOf(key);
    return !ended && matched === length && this.lengthOf(last) === length && this.isEntry(last) ? last : NONE;
  }

  #covering(key: Uint8Array): number[] {
    const { nodes, matched } = this.search(key);
    return nodes.filter((node) => this.isEntry(node) && this.lengthOf(node) <= matched);
  }

  #leftmost(from: number): Uint8Array {
    for (let node = from; ; ) {
      const next = this.childOf(node, 0) || this.childOf(node, 1);
      if (next === NONE) return this.#keyOf(node);
      node = next;
    }
  }

  #keyOf(node: number): Uint8Array {
    return this.#keys.slice(node * this.keyBytes, (node + 1) * this.keyBytes);
  }

  /** Leading bits that node and key share, at most the shorter one's length. */
  #shared(node: number, key: Uint8Array, length: number): number {
    const limit = Math.min(this.lengthOf(node), length);
    const at = node * this.keyBytes + 4;
    for (let bits = 0; bits < limit; bits += 8) {
      const difference = (this.#keys[at + bits / 8] ?? 0) ^ (key[4 + bits / 8] ?? 0);
      if (difference !== 0) return Math.min(bits + Math.clz32(difference) - 24, limit);
    }
    return limit;
  }

  /** Puts the new node beside or above the last node of the path. */
  #split(nodes: readonly number[], made: number, key: Uint8Array, matched: number): void {
    const last = nodes.at(-1) ?? NONE;
    const above = nodes.at(-2) ?? NONE;
    const lastKey = this.#keys.subarray(last * this.keyBytes, (last + 1) * this.keyBytes);
    const lastSide = dataBit(lastKey, 0, matched);
    if (matched === prefixlenOf(key)) {
      this.#children[made * 2 + lastSide] = last;
      this.#replace(above, last, made);
      return;
    }
    const between = this.#make(lastKey, matched, undefined);
    this.#children[between * 2 + lastSide] = last;
    this.#children[between * 2 + 1 - lastSide] = made;
    this.#replace(above, last, between);
  }

  #make(key: Uint8Array, length: number, value: Value | undefined): number {
    const node = this.#free.pop() ?? this.#used++;
    if (node * 2 >= this.#children.length) this.#grow();
    this.#keys.set(key.subarray(0, this.keyBytes), node * this.keyBytes);
    setPrefixlen(this.#keys, node * this.keyBytes, length);
    this.#children.fill(NONE, node * 2, node * 2 + 2);
    this.#values[node] = value;
    return node;
  }

  #grow(): void {
    const keys = new Uint8Array(this.#keys.length * 2);
    const children = new Int32Array(this.#children.length * 2);
    keys.set(this.#keys);
    children.set(this.#children);
    this.#keys = keys;
    this.#children = children;
  }

  #replace(parent: number, from: number, to: number): void {
    if (parent === NONE) this.#root = to;
    else this.#children[parent * 2 + (this.childOf(parent, 0) === from ? 0 : 1)] = to;
  }
}
