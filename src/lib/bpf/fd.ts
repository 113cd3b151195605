/** A descriptor that is only needed for a moment. */
import type { Kernel } from '../native/kernel.ts';

export class OwnedFd implements Disposable {
  readonly number: number;
  readonly #kernel: Kernel;
  #open = true;

  constructor(kernel: Kernel, number: number) {
    this.#kernel = kernel;
    this.number = number;
  }

  /** Hands the descriptor to another owner, who closes it. */
  release(): number {
    this.#open = false;
    return this.number;
  }

  [Symbol.dispose](): void {
    if (!this.#open) return;
    this.#open = false;
    this.#kernel.close(this.number);
  }
}
