/** Things to undo in the end, the latest first: an AsyncDisposableStack, which Node 20 does not have. */
export class Closers implements AsyncDisposable {
  readonly #steps: (() => unknown)[] = [];

  defer(step: () => unknown): void {
    this.#steps.push(step);
  }

  /** Does every step, whatever one of them throws. @throws the first that was thrown */
  async [Symbol.asyncDispose](): Promise<void> {
    const failures: unknown[] = [];
    for (const step of this.#steps.splice(0).reverse()) {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
