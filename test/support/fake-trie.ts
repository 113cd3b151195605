/**
 * An LPM trie that behaves as the kernel's does, node for node: path compression and intermediate nodes decide what
 * next-key answers for a key that is gone, so a sorted list would not do. After kernel/bpf/lpm_trie.c, both as it is
 * since Linux 6.13 (and in stable kernels from December 2024 on) and as it was before:
 *
 * | | since 6.13 | before |
 * |---|---|---|
 * | next-key of a key that is gone | the first key | what follows the node of its length on the path, if any |
 * | BPF_NOEXIST, BPF_EXIST | honoured | ignored |
 * | update in place of a full map | done | ENOSPC |
 */
import { EEXIST, EINVAL, ENOENT, ENOSPC } from '../../src/lib/bpf/errno.ts';
import { BPF_EXIST, BPF_NOEXIST } from '../../src/lib/bpf/uapi.ts';
import { dataBit, prefixlenOf } from '../../src/lib/net/lpm-order.ts';
import { LpmTrie } from './lpm-trie.ts';

export type TrieKind = 'since-6.13' | 'before-6.13';

/** Errors are answered as errno, 0 for success. */
export class FakeTrie {
  readonly kind: TrieKind;
  readonly #maxEntries: number;
  readonly #trie: Nodes;

  constructor(options: { kind: TrieKind; keyBytes: number; maxEntries: number }) {
    this.kind = options.kind;
    this.#maxEntries = options.maxEntries;
    this.#trie = new Nodes(options.keyBytes);
  }

  get size(): number {
    return this.#trie.size;
  }

  /** The value of the longest match, whatever length was asked for up to that of the key. */
  lookup(key: Uint8Array): Uint8Array | undefined {
    return this.#tooLong(key) ? undefined : this.#trie.match(key);
  }

  update(key: Uint8Array, value: Uint8Array, flags = 0): number {
    if (this.#tooLong(key) || flags > BPF_EXIST) return EINVAL;
    const there = this.#trie.get(key) !== undefined;
    const current = this.kind === 'since-6.13';
    if (current && !there && flags === BPF_EXIST) return ENOENT;
    if (current && there && flags === BPF_NOEXIST) return EEXIST;
    if (this.size === this.#maxEntries && !(current && there)) return ENOSPC;
    this.#trie.set(key, value.slice());
    return 0;
  }

  /** Exact in length and bits. */
  delete(key: Uint8Array): number {
    if (this.#tooLong(key)) return EINVAL;
    return this.#trie.delete(key) ? 0 : ENOENT;
  }

  /** @returns undefined at the end and in an empty trie. */
  nextKey(previous: Uint8Array | undefined): Uint8Array | undefined {
    if (previous === undefined || this.#tooLong(previous)) return this.#trie.firstKey();
    if (this.kind === 'before-6.13') return this.#trie.nextOfAnyLike(previous);
    return this.#trie.get(previous) === undefined ? this.#trie.firstKey() : this.#trie.nextKey(previous);
  }

  #tooLong(key: Uint8Array): boolean {
    return prefixlenOf(key) > this.#trie.maxBits;
  }
}

class Nodes extends LpmTrie<Uint8Array> {
  /** Down the key's bits until a node has the key's length, without a look at the bits that the nodes skip. */
  nextOfAnyLike(key: Uint8Array): Uint8Array | undefined {
    const length = prefixlenOf(key);
    const path: number[] = [];
    for (let node = this.root; node !== 0; node = this.childOf(node, dataBit(key, 0, this.lengthOf(node)))) {
      path.push(node);
      if (this.lengthOf(node) !== length) continue;
      return this.isEntry(node) ? this.keyAfter(path) : this.firstKey();
    }
    return this.firstKey();
  }
}
