/** Turns whatever was thrown into what the user is told: one message, one hint, one exit status. */
import { type ErrorOperands, EXIT, NotFoundError, ToolError, worstExit } from '../errors.ts';

export interface Failure {
  readonly exitCode: number;
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly operands: ErrorOperands;
  /** Present for a bug; for an expected failure only the trace behind -v. */
  readonly stack?: string;
}

const BUG_HINT = 'this is a bug in ipc: please report it with the command line and all of this output';

/** The failures of a run, the one that decides the exit status last. */
export function failuresOf(error: unknown): readonly Failure[] {
  if (!(error instanceof AggregateError)) return [oneFailure(error)];
  const all = error.errors.flatMap((inner) => failuresOf(inner));
  const worst = worstExit(all.map((failure) => failure.exitCode));
  const decisive = all.find((failure) => failure.exitCode === worst);
  if (decisive === undefined) return [oneFailure(error)];
  return [...all.filter((failure) => failure !== decisive), decisive];
}

// Messages quote what they complain about, and that may be a file of one endless line.
const LONGEST_MESSAGE = 4_000;
const KEPT_END = 200;

function clipped(text: string): string {
  if (text.length <= LONGEST_MESSAGE) return text;
  const start = text.slice(0, LONGEST_MESSAGE - KEPT_END);
  return `${start} … (${text.length - LONGEST_MESSAGE} characters left out) … ${text.slice(-KEPT_END)}`;
}

function oneFailure(thrown: unknown): Failure {
  const error = isWithoutDirectory(thrown) ? withoutDirectory(thrown) : thrown;
  if (error instanceof ToolError) {
    return {
      exitCode: error.exitCode,
      code: error.code,
      message: clipped(error.message),
      operands: error.operands,
      ...(error.hint !== undefined && { hint: clipped(error.hint) }),
      ...(error.stack !== undefined && { stack: error.stack }),
    };
  }
  const text = error instanceof Error ? error.message : String(error);
  const stack = error instanceof Error ? error.stack : undefined;
  return {
    exitCode: EXIT.bug,
    code: 'BUG',
    message: text === '' ? 'unknown failure' : text,
    hint: BUG_HINT,
    operands: {},
    stack: stack ?? text,
  };
}

/** Whatever needs an absolute path asks for the working directory, which may have been removed. */
function isWithoutDirectory(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd';
}

function withoutDirectory(cause: Error): ToolError {
  return new NotFoundError('Cannot find the working directory: it was removed', {
    code: 'NO_WORKING_DIRECTORY',
    hint: 'change to a directory that exists, or name files and pins by absolute paths',
    cause,
  });
}
