/** Bytes that are expected at some place, compared four at a time. */

const WORD = 4;

export class Literal {
  readonly length: number;
  readonly #bytes: Uint8Array;
  /** The whole words; the last of them may overlap the one before. Empty where there are fewer than four bytes. */
  readonly #words: Int32Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = Uint8Array.from(bytes);
    this.length = bytes.length;
    const view = new DataView(this.#bytes.buffer);
    const count = bytes.length < WORD ? 0 : Math.ceil(bytes.length / WORD);
    this.#words = Int32Array.from({ length: count }, (_, i) =>
      view.getInt32(Math.min(i * WORD, bytes.length - WORD), true),
    );
  }

  /** Whether they stand at `at`; not where they would reach beyond the end. */
  isAt(view: DataView, at: number): boolean {
    const { length } = this;
    if (at + length > view.byteLength) return false;
    const words = this.#words;
    const last = words.length - 1;
    for (let i = 0; i < last; i++) if (view.getInt32(at + i * WORD, true) !== words[i]) return false;
    if (last >= 0) return view.getInt32(at + length - WORD, true) === words[last];
    for (let i = 0; i < length; i++) if (view.getUint8(at + i) !== this.#bytes[i]) return false;
    return true;
  }
}
