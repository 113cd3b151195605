/** Short texts that repeat in a stream of bytes, each as one string that is made once. */

const SLOTS = 8192;

export class ByteTexts {
  readonly #slots: (string | undefined)[] = new Array(SLOTS);

  /** The ASCII text between two offsets; the same string as long as no other text takes its slot. */
  text(bytes: Buffer, from: number, to: number): string {
    let hash = 0x811c9dc5;
    for (let i = from; i < to; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193);
    const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    const known = this.#slots[slot];
    if (known !== undefined && isSame(known, bytes, from, to)) return known;
    const text = bytes.toString('latin1', from, to);
    this.#slots[slot] = text;
    return text;
  }
}

function isSame(text: string, bytes: Buffer, from: number, to: number): boolean {
  if (text.length !== to - from) return false;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) !== bytes[from + i]) return false;
  return true;
}
