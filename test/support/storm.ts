/** Another process that changes a fake map at any moment of a walk, and a judge of what the walk emitted. */
import { expect } from 'vitest';
import { BPF_MAP_GET_NEXT_KEY, BPF_MAP_LOOKUP_BATCH, BPF_MAP_LOOKUP_ELEM } from '../../src/lib/bpf/uapi.ts';
import { compareLpmKeys } from '../../src/lib/net/lpm-order.ts';
import { formatPrefix, parsePrefix } from '../../src/lib/net/prefix.ts';
import type { Drained } from './drain.ts';
import type { FakeCall, FakeKernel } from './fake-kernel.ts';
import type { FakeMap } from './fake-map.ts';
import { hex, ipKey, value } from './lpm-keys.ts';

/** A small reproducible generator (mulberry32). @returns numbers from 0 to below `below`. */
export function randomNumbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const WATCHED = new Set([BPF_MAP_LOOKUP_BATCH, BPF_MAP_GET_NEXT_KEY, BPF_MAP_LOOKUP_ELEM]);

export interface StormOptions {
  readonly seed: number;
  /** Every so many moments something changes. */
  readonly every: number;
  /** Moments before a deleted key may come back. A key that is back at once was, for any observer, never gone. */
  readonly restMoments: number;
}

/** Keys that stay and keys that come and go, interleaved and nested. */
export class Storm {
  readonly stable = new Map<string, Uint8Array>();
  /** Every value that a key ever had, by key. */
  readonly #given = new Map<string, Set<string>>();
  readonly #volatile: Uint8Array[] = [];
  readonly #steady: Uint8Array[] = [];
  readonly #gone = new Map<string, number>();
  readonly #fake: FakeMap;
  readonly #random: (below: number) => number;
  readonly #options: StormOptions;
  #moment = 0;
  #serial = 1;

  constructor(kernel: FakeKernel, fake: FakeMap, options: StormOptions) {
    this.#fake = fake;
    this.#options = options;
    this.#random = randomNumbers(options.seed);
    kernel.onCall = (call) => this.#onCall(call);
  }

  add(text: string, kind: 'stable' | 'volatile'): void {
    const key = ipKey(formatPrefix(parsePrefix(text)));
    if (this.#given.has(hex(key))) return;
    this.#set(key);
    if (kind === 'volatile') this.#volatile.push(key);
    else {
      this.stable.set(hex(key), key);
      this.#steady.push(key);
    }
  }

  /** `entries` keys, about half of them stable, in a few nested blocks so that neighbours matter. */
  addMany(entries: number): void {
    for (let i = 0; i < entries; i++) {
      const length = [32, 32, 32, 32, 31, 30, 28, 24, 16][this.#random(9)];
      const text = `10.${this.#random(3)}.${this.#random(4)}.${this.#random(256)}/${length}`;
      this.add(text, this.#random(2) === 0 ? 'stable' : 'volatile');
    }
  }

  /** Every stable key once, no key twice, in order, and each with a value that was its own. */
  judge({ keys, values, result }: Drained): void {
    const seen = new Set(keys.map((key) => hex(key)));
    keys.forEach((key, i) => {
      const before = keys[i - 1];
      if (before !== undefined) expect(compareLpmKeys(before, 0, key, 0)).toBeLessThan(0);
      expect(this.#given.get(hex(key)), `value of ${hex(key)}`).toContain(hex(values[i] ?? new Uint8Array(0)));
    });
    expect(result.entries).toBe(keys.length);
    if (result.complete) expect([...this.stable.keys()].filter((key) => !seen.has(key))).toEqual([]);
    else expect(result.reason).toBeTruthy();
  }

  #onCall({ cmd, phase, key }: FakeCall): void {
    if (!WATCHED.has(cmd)) return;
    this.#moment++;
    if (this.#random(this.#options.every) !== 0) return;
    // Most harm is done at the key that the listing stands on.
    if (phase !== 'before' && key !== undefined && this.#random(2) === 0) this.#drop(key);
    else this.#change();
  }

  #change(): void {
    const updated = this.#steady[this.#random(this.#steady.length || 1)];
    if (this.#random(5) === 0 && updated !== undefined) this.#set(updated);
    const key = this.#volatile[this.#random(this.#volatile.length || 1)];
    if (key === undefined) return;
    const goneSince = this.#gone.get(hex(key));
    if (goneSince === undefined) this.#drop(key);
    else if (this.#moment - goneSince >= this.#options.restMoments) {
      this.#gone.delete(hex(key));
      this.#set(key);
    }
  }

  #drop(key: Uint8Array): void {
    if (this.stable.has(hex(key)) || this.#gone.has(hex(key))) return;
    this.#fake.store.delete(key);
    this.#gone.set(hex(key), this.#moment);
  }

  #set(key: Uint8Array): void {
    const given = value(this.#serial++);
    this.#fake.store.update(key, given);
    const values = this.#given.get(hex(key)) ?? new Set();
    this.#given.set(hex(key), values.add(hex(given)));
  }
}
