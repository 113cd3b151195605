/** The commands of a batch file, one by one as they are read, so that a pipe can be talked to line by line. */
import { isUtf8 } from 'node:buffer';
import { type BegunWords, splitWords } from './split-words.ts';

/** Longer lines are no commands. */
export const LONGEST_LINE_BYTES = 1 << 20;

export interface BatchLine {
  /** Counts from 1; of a command that goes over several lines, the first. */
  readonly line: number;
  /** At least one, unless there is a problem. */
  readonly words: readonly string[];
  /** What is wrong with the line. */
  readonly problem?: string;
}

/** @yields one item for each line that is not blank and not only a comment; nothing comes after a line without end */
export async function* batchLines(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<BatchLine, void> {
  let number = 0;
  let open: OpenLine | undefined;
  for await (const bytes of lines(chunks)) {
    number++;
    const line = open?.line ?? number;
    const length = (open?.length ?? 0) + bytes.length;
    if (length > LONGEST_LINE_BYTES) {
      yield { line, words: [], problem: `it is longer than ${LONGEST_LINE_BYTES} bytes` };
      return;
    }
    const split = isUtf8(bytes) ? splitWords(textOf(bytes, number), open?.begun) : NOT_TEXT;
    open = split.kind === 'continued' ? { line, length, begun: split.begun } : undefined;
    if (split.kind === 'malformed') yield { line, words: [], problem: split.problem };
    else if (split.kind === 'words' && split.words.length > 0) yield { line, words: split.words };
  }
  if (open !== undefined) yield { line: open.line, words: [], problem: 'it ends in a backslash and no line follows' };
}

/** A command that goes on in the next line. */
interface OpenLine {
  readonly line: number;
  readonly length: number;
  readonly begun: BegunWords;
}

const NOT_TEXT = { kind: 'malformed', problem: 'it is not UTF-8' } as const;

/** A line without its end, and without the mark that some editors put in front of a file. */
function textOf(bytes: Uint8Array, line: number): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  return (line === 1 ? text.replace(/^\ufeff/, '') : text).replace(/\r$/, '');
}

const NEWLINE = 10;

async function* lines(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array, void> {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, typeof chunk === 'string' ? Buffer.from(chunk) : chunk]);
    let from = 0;
    for (let to = rest.indexOf(NEWLINE); to >= 0; to = rest.indexOf(NEWLINE, from)) {
      yield rest.subarray(from, to);
      from = to + 1;
    }
    rest = rest.subarray(from);
    // Whoever reads this stops here.
    if (rest.length > LONGEST_LINE_BYTES) yield rest;
  }
  if (rest.length > 0) yield rest;
}
