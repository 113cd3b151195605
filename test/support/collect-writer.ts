/** A ByteWriter that keeps what it is given. */
import type { ByteWriter } from '../../src/lib/output/byte-writer.ts';

export class CollectWriter implements ByteWriter {
  readonly #pieces: Buffer[] = [];

  write(bytes: Uint8Array): void {
    this.#pieces.push(Buffer.from(bytes));
  }

  async end(): Promise<void> {}

  abort(): void {}

  get text(): string {
    return Buffer.concat(this.#pieces).toString('utf8');
  }
}
