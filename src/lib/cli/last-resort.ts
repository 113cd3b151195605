import { reportFailure } from './report-failure.ts';
import type { RunContext } from './run-context.ts';

/**
 * Failures that no `await` sees, such as one thrown in a callback, end the process with the same message and status as any
 * other; Node's own warnings take the form of ours, so that standard error stays NDJSON under --json.
 */
export function watchProcess(context: RunContext): void {
  process.on('uncaughtException', (error) => context.runtime.exit(reportFailure(error, context)));
  // Nothing is left to wait for, yet the run has not ended: without this it would pass for a success.
  process.on('beforeExit', () =>
    context.runtime.exit(reportFailure(new Error('the run ended before it was done'), context)),
  );
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => context.log.warn(name === 'Warning' ? message : `${name}: ${message}`));
}
