/** Where results go: standard output or the file of `--file`. Synchronous, so that nothing is buffered behind our back. */
import { writeSync } from 'node:fs';
import { FailedError } from '../errors.ts';

export interface ByteWriter {
  /** Writes all of it before it returns. @throws {StdoutClosed} when the reader went away */
  write(bytes: Uint8Array): void;
  /** Completes the output; a file takes its place only now. Safe to call twice. */
  end(): Promise<void>;
  /** Drops an output file that was not completed; does nothing after `end()`. */
  abort(): void;
}

/** The reader of standard output went away: the run ends quietly, as a success. Not a failure, so not a ToolError. */
export class StdoutClosed extends Error {
  constructor() {
    super('standard output was closed');
    this.name = 'StdoutClosed';
  }
}

const FIRST_WAIT_MS = 1;
const LONGEST_WAIT_MS = 20;

/** Writes to an open descriptor such as standard output, also when a peer made it non-blocking. */
export class FdWriter implements ByteWriter {
  readonly #fd: number;
  #prepare: (() => void) | undefined;
  #sleeper: Int32Array | undefined;

  /** @param prepare called once, before the first write */
  constructor(fd: number, prepare?: () => void) {
    this.#fd = fd;
    this.#prepare = prepare;
  }

  write(bytes: Uint8Array): void {
    this.#prepare?.();
    this.#prepare = undefined;
    let waitMs = FIRST_WAIT_MS;
    for (let at = 0; at < bytes.length; ) {
      try {
        at += writeSync(this.#fd, bytes, at);
        waitMs = FIRST_WAIT_MS;
      } catch (cause) {
        const errno = (cause as NodeJS.ErrnoException).code;
        if (errno === 'EPIPE') throw new StdoutClosed();
        if (errno !== 'EAGAIN') throw writeFailure(cause, errno);
        this.#sleep(waitMs);
        waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
      }
    }
  }

  async end(): Promise<void> {}

  abort(): void {}

  /** Blocks the thread without using it, until a full pipe may have room again. */
  #sleep(ms: number): void {
    this.#sleeper ??= new Int32Array(new SharedArrayBuffer(4));
    Atomics.wait(this.#sleeper, 0, 0, ms);
  }
}

function writeFailure(cause: unknown, errno: string | undefined): FailedError {
  const state = errno === 'ENOSPC' ? 'no space left on the device' : (errno ?? String(cause));
  return new FailedError(`Cannot write standard output: ${state}`, {
    code: 'OUTPUT_FAILED',
    cause,
    operands: { ...(errno !== undefined && { errno }), syscall: 'write' },
  });
}
