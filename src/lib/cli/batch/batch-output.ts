/** Where the output of the commands of a batch goes: as it is, or into one line of JSON for each. */
import type { ByteWriter } from '../../output/byte-writer.ts';
import { safeJson } from '../../output/escape.ts';
import type { Failure } from '../failure.ts';

export interface BatchOutput {
  /** The standard output of the next command. */
  begin(command: { readonly line: number; readonly words: readonly string[]; readonly time: number }): ByteWriter;
  /** To be called when the command has ended. */
  end(failure: Failure | undefined): void;
}

/** Text: the commands write what they would write without a batch. */
export function plainOutput(out: ByteWriter): BatchOutput {
  const writer: ByteWriter = { write: (bytes) => out.write(bytes), end: async () => {}, abort: () => {} };
  return { begin: () => writer, end: () => {} };
}

/**
 * One JSON object a line for each command. What the command prints is passed on as it comes, so that nothing of a large result
 * is kept: all it takes is to leave its newlines out, which in JSON stand between tokens only. This is why `exitCode` and
 * `error` come behind `result`; `result` is absent when the command printed nothing.
 */
export function jsonOutput(out: ByteWriter): BatchOutput {
  let head = '';
  let written = false;
  const writer: ByteWriter = {
    write(bytes) {
      if (bytes.length === 0) return;
      // What is small goes out together with the rest of its line.
      pending.add(written ? '' : `${head},"result":`, bytes);
      written = true;
    },
    end: async () => {},
    abort: () => {},
  };
  const pending = new Pending(out);
  return {
    begin({ line, words, time }) {
      written = false;
      const object = { time: new Date(time).toISOString(), kind: 'batch', line, command: words };
      head = safeJson(object).slice(0, -1);
      return writer;
    },
    end(failure) {
      pending.add(`${written ? '' : head},"exitCode":${failure?.exitCode ?? 0}${errorField(failure)}}\n`);
      pending.flush();
    },
  };
}

function errorField(failure: Failure | undefined): string {
  if (failure === undefined) return '';
  const { code, message, hint, exitCode, operands } = failure;
  return `,"error":${safeJson({ code, message, hint, exitCode, ...operands })}`;
}

const NEWLINE = 10;
const FLUSH_AT = 64 * 1024;

/** Collects small pieces; large ones are written at once, because their buffer is used again. */
class Pending {
  readonly #out: ByteWriter;
  #pieces: Buffer[] = [];
  #length = 0;

  constructor(out: ByteWriter) {
    this.#out = out;
  }

  /** Adds text as it is and bytes without their newlines. */
  add(text: string, bytes?: Uint8Array): void {
    if (text !== '') this.#push(Buffer.from(text));
    if (bytes !== undefined) this.#push(withoutNewlines(bytes));
    if (this.#length >= FLUSH_AT) this.flush();
  }

  flush(): void {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#length = 0;
    if (pieces.length > 0) this.#out.write(pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces));
  }

  #push(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
  }
}

function withoutNewlines(bytes: Uint8Array): Buffer {
  const kept = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (let from = 0; from < bytes.length; ) {
    const at = bytes.indexOf(NEWLINE, from);
    const to = at < 0 ? bytes.length : at;
    kept.set(bytes.subarray(from, to), length);
    length += to - from;
    from = to + 1;
  }
  return kept.subarray(0, length);
}
