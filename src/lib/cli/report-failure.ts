import { EXIT } from '../errors.ts';
import { StdoutClosed } from '../output/byte-writer.ts';
import { failuresOf } from './failure.ts';
import type { RunContext } from './run-context.ts';
import { Interrupted } from './signals.ts';

/** Tells the user why the run ended; a reader that went away and a signal are no failures. @returns the exit status */
export function reportFailure(error: unknown, { log }: Pick<RunContext, 'log'>): number {
  if (error instanceof StdoutClosed) return EXIT.ok;
  if (error instanceof Interrupted) return error.exitCode;
  const failures = failuresOf(error);
  log.failed(failures);
  return failures.at(-1)?.exitCode ?? EXIT.bug;
}
