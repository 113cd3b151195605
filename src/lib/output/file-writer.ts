/** The output of `--file`: the file appears complete or not at all. */
import { type AtomicFile, openAtomicFile } from '../fs/atomic-file.ts';
import { errnoOf } from '../fs/file-error.ts';
import { type ByteWriter, StdoutClosed } from './byte-writer.ts';

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
    try {
      this.#open().writeSync(bytes);
    } catch (error) {
      // The file may be a pipe, such as /dev/stdout, and its reader may have had enough.
      if (error instanceof Error && errnoOf(error.cause) === 'EPIPE') throw new StdoutClosed();
      throw error;
    }
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
