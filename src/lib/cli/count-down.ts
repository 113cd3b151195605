/** Waits, and tells a terminal how long it still takes in one line that is rewritten; anywhere else one line says it once. */
import type { Log } from './log.ts';
import { pause } from './pause.ts';
import type { Runtime } from './runtime.ts';

const STEP_MS = 1_000;

export interface CountDownOptions {
  readonly runtime: Pick<Runtime, 'writeError' | 'stderrIsTerminal'>;
  readonly logger: Log;
  /** What happens at the end: `placeholders end`. */
  readonly what: string;
  /** Ends the waiting at once. */
  readonly signal: AbortSignal;
}

/** @param ms nothing is said, and nothing waited for, when it is not positive */
export async function countDown(ms: number, { runtime, logger, what, signal }: CountDownOptions): Promise<void> {
  if (ms <= 0) return;
  const text = (left: number): string => `${what} in ${Math.ceil(left / 1000)} s`;
  const rewrites = runtime.stderrIsTerminal && logger.format === 'text' && logger.enabled('info');
  if (!rewrites) {
    logger.info(text(ms));
    return pause(ms, signal);
  }
  for (let left = ms; left > 0 && !signal.aborted; left -= STEP_MS) {
    runtime.writeError(`\r\x1b[K${text(left)}`);
    await pause(Math.min(left, STEP_MS), signal);
  }
  runtime.writeError('\r\x1b[K');
}
