/** Number → small number, 8 bytes each: for hundreds of thousands of numbers that a Map would need ten times that for. */
export class IdTable {
  /** Open addressing: number at 2 i, its value plus one at 2 i + 1, which is 0 in an empty slot. */
  #slots: Uint32Array;
  #size = 0;

  /** @param expected about how many numbers; it grows when there are more */
  constructor(expected = 0) {
    this.#slots = new Uint32Array(2 ** Math.ceil(Math.log2(Math.max(512, 2 * expected)) + 1));
  }

  get size(): number {
    return this.#size;
  }

  /** Keeps the first value of a number. @param value below 2^32 − 1 */
  add(id: number, value: number): void {
    if (this.#size * 4 >= this.#slots.length) this.#grow();
    const slot = this.#slotOf(id);
    if (this.#slots[2 * slot + 1] !== 0) return;
    this.#slots[2 * slot] = id;
    this.#slots[2 * slot + 1] = value + 1;
    this.#size++;
  }

  get(id: number): number | undefined {
    const value = this.#slots[2 * this.#slotOf(id) + 1] ?? 0;
    return value === 0 ? undefined : value - 1;
  }

  /** In no particular order. */
  *ids(): Generator<number> {
    for (let i = 0; i < this.#slots.length; i += 2) if (this.#slots[i + 1] !== 0) yield this.#slots[i] ?? 0;
  }

  #slotOf(id: number): number {
    const mask = this.#slots.length / 2 - 1;
    let slot = (Math.imul(id, 0x9e3779b1) >>> 8) & mask;
    while (this.#slots[2 * slot + 1] !== 0 && this.#slots[2 * slot] !== id) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(old.length * 2);
    for (let i = 0; i < old.length; i += 2) {
      if (old[i + 1] === 0) continue;
      const slot = this.#slotOf(old[i] ?? 0);
      this.#slots[2 * slot] = old[i] ?? 0;
      this.#slots[2 * slot + 1] = old[i + 1] ?? 0;
    }
  }
}
