/** Rendered labels by number, so that a number used by many entries is looked up and rendered once. */
import type { EntryLabels } from '../entry-json.ts';
import type { LabelsOf } from './entry-format.ts';

/** Numbers remembered before starting over: keeps memory bounded whatever the map holds. */
const MOST = 16_384;
const NONE = new Uint8Array(0);

export class LabelsCache {
  readonly #labelsOf: LabelsOf;
  readonly #render: (labels: EntryLabels) => string;
  readonly #rendered = new Map<number, Uint8Array>();

  constructor(labelsOf: LabelsOf, render: (labels: EntryLabels) => string) {
    this.#labelsOf = labelsOf;
    this.#render = render;
  }

  /** UTF-8 text; empty where nobody knows the labels. */
  bytes(identity: number): Uint8Array {
    const known = this.#rendered.get(identity);
    if (known !== undefined) return known;
    const labels = this.#labelsOf(identity);
    const rendered = labels === undefined ? NONE : Buffer.from(this.#render(labels));
    if (this.#rendered.size >= MOST) this.#rendered.clear();
    this.#rendered.set(identity, rendered);
    return rendered;
  }
}
