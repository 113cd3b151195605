/** `ipc get -`: an answer for every line of standard input, as soon as it is read. */
import { createInterface } from 'node:readline';
import { MalformedError, NoEntryError, ToolError } from '../errors.ts';
import { parsePrefix } from '../net/prefix.ts';
import type { GetModel } from '../output/get-view.ts';
import { type Datapath, type GetAnswers, getAnswer } from './get-answers.ts';

export interface AnswerLines extends AsyncIterable<GetModel> {
  /**
   * To be called after the last answer.
   * @throws {AggregateError} of what was malformed (9, the first line of it is named) and not found (12)
   */
  assertAllFound(): void;
}

/** Blank lines and those that begin with `#` are passed over; a malformed one is told at the end, the rest goes on. */
export function answerLines(input: NodeJS.ReadableStream, datapath: Datapath, options: GetAnswers): AnswerLines {
  const failures = { malformed: 0, first: undefined as MalformedError | undefined, missing: 0 };
  async function* answers(): AsyncGenerator<GetModel> {
    let line = 0;
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      line++;
      const word = text.trim();
      if (word === '' || word.startsWith('#')) continue;
      const prefix = readLine(word, line);
      if (prefix instanceof MalformedError) {
        failures.malformed++;
        failures.first ??= prefix;
        continue;
      }
      const model = await getAnswer(prefix, datapath, options);
      if (model.match === undefined) failures.missing++;
      yield model;
      if (options.signal.aborted) return;
    }
  }
  return {
    [Symbol.asyncIterator]: answers,
    assertAllFound() {
      const errors: ToolError[] = [];
      if (failures.missing > 0) {
        errors.push(new NoEntryError(`Cannot find all addresses: ${failures.missing} of them match no entry`));
      }
      if (failures.first !== undefined) errors.push(failures.first);
      const [only] = errors;
      if (only !== undefined) throw errors.length === 1 ? only : new AggregateError(errors);
    },
  };
}

function readLine(text: string, line: number) {
  try {
    return parsePrefix(text);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return new MalformedError(`Cannot read standard input, line ${line}: ${error.message}`, {
      code: error.code,
      ...(error.hint !== undefined && { hint: error.hint }),
      operands: { file: '-', line },
    });
  }
}
