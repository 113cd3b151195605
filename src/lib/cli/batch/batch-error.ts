/** How the failure of one line is told: as the command tells it, with the line in front. */
import { type ErrorOperands, EXIT, MalformedError, ToolError, type ToolErrorOptions, worstExit } from '../../errors.ts';
import type { Failure } from '../failure.ts';
import type { BatchLine } from './batch-lines.ts';

/** The failure of a command that was run for a line, with the command's own exit status. */
export class BatchError extends ToolError {
  readonly exitCode: number;

  constructor(exitCode: number, message: string, options: ToolErrorOptions) {
    super('BATCH', message, options);
    this.exitCode = exitCode;
  }
}

/** A batch file, `-` for standard input. */
export function shownName(file: string): string {
  return file === '-' ? 'standard input' : file;
}

/** The error for a line that is no command. */
export function malformedLine(file: string, { line, problem = '' }: BatchLine): MalformedError {
  return new MalformedError(`Cannot read ${shownName(file)}, line ${line}: ${problem}`, {
    code: 'BATCH_LINE',
    hint: 'a line is a command as it stands behind ipc, in words as a shell has them',
    operands: { file, line },
  });
}

/** The failure of a command, as that of its line. */
export function failureOfLine(failure: Failure, file: string, line: number): Failure {
  const operands: ErrorOperands = { ...failure.operands, batchFile: file, batchLine: line };
  return { ...failure, message: `Cannot run ${shownName(file)}, line ${line}: ${failure.message}`, operands };
}

/** The failure of a line, to be thrown. */
export function batchErrorOf({ exitCode, code, message, hint, operands, stack }: Failure): BatchError {
  const error = new BatchError(exitCode, message, { code, operands, ...(hint !== undefined && { hint }) });
  if (stack !== undefined) error.stack = stack;
  return error;
}

/** The end of a batch that went on after failures. */
export function someFailed(file: string, lines: number, failed: readonly FailedLine[]): BatchError {
  const [first] = failed;
  const message = `Cannot run all of ${shownName(file)}: ${failed.length} of ${lines} commands failed`;
  return new BatchError(worstExit(failed.map(({ exitCode }) => exitCode)) || EXIT.failed, message, {
    code: 'BATCH_FAILED',
    hint: `the first was that of line ${first?.line ?? 0}`,
    operands: { batchFile: file, failed: failed.length, commands: lines },
  });
}

export interface FailedLine {
  readonly line: number;
  readonly exitCode: number;
}
