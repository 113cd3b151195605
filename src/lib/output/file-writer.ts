/** The output of `--file`: the file appears complete or not at all. */
import { type AtomicFile, openAtomicFile } from '../fs/atomic-file.ts';
import type { ByteWriter } from './byte-writer.ts';

const MODE = 0o644;

/** Opened by the first byte, so that a command that fails before it has a result leaves no trace. */
export class FileWriter implements ByteWriter {
  readonly #path: string;
  #file: AtomicFile | undefined;
  #ended = false;

  constructor(path: string) {
    this.#path = path;
  }

  write(bytes: Uint8Array): void {
    this.#open().writeSync(bytes);
  }

  async end(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    await this.#open().commit();
  }

  abort(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#file?.[Symbol.dispose]();
  }

  #open(): AtomicFile {
    this.#file ??= openAtomicFile(this.#path, { mode: MODE });
    return this.#file;
  }
}
