/** How long to wait before the next try: longer each time, never all at once. */

export interface RetryDelayOptions {
  readonly firstMs: number;
  readonly mostMs: number;
  /** 0 up to but not including 1. */
  readonly random: () => number;
}

export class RetryDelay {
  readonly #options: RetryDelayOptions;
  #tries = 0;

  constructor(options: RetryDelayOptions) {
    this.#options = options;
  }

  /** Milliseconds: between half of and the whole delay of this try, which doubles. */
  next(): number {
    const { firstMs, mostMs, random } = this.#options;
    const delay = Math.min(mostMs, firstMs * 2 ** Math.min(this.#tries++, 30));
    return Math.round(delay * (0.5 + random() / 2));
  }

  /** Something worked: begin again. */
  reset(): void {
    this.#tries = 0;
  }
}
