/** Everything that goes to standard error: warnings, notes, progress and the failure that ends a run. */
import { escapeText, safeJson } from '../output/escape.ts';
import type { Failure } from './failure.ts';
import type { Runtime } from './runtime.ts';

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_FORMATS = ['text', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

type Fields = Readonly<Record<string, unknown>>;

/** `format` and `level` are settled when the flags are known; until then they follow a first look at the command line. */
export class Log {
  level: LogLevel = 'info';
  format: LogFormat = 'text';
  readonly #runtime: Pick<Runtime, 'writeError'>;

  constructor(runtime: Pick<Runtime, 'writeError'>) {
    this.#runtime = runtime;
  }

  /** Something the user should look at; the run goes on. */
  warn(message: string, fields: Fields = {}): void {
    this.#write('warn', message, fields);
  }

  /** What was chosen or done. */
  info(message: string, fields: Fields = {}): void {
    this.#write('info', message, fields);
  }

  debug(message: string, fields: Fields = {}): void {
    this.#write('debug', message, fields);
  }

  /** A line of a kind of its own, such as progress, under JSON only. */
  event(line: Fields): void {
    if (this.format === 'json' && this.enabled('info')) this.#runtime.writeError(`${safeJson(line)}\n`);
  }

  enabled(level: LogLevel): boolean {
    return LOG_LEVELS.indexOf(level) <= LOG_LEVELS.indexOf(this.level);
  }

  /** The last line of a run that failed; failures beside the decisive one come before it. */
  failed(failures: readonly Failure[]): void {
    for (const failure of failures.slice(0, -1)) this.#failure(failure, false);
    const last = failures.at(-1);
    if (last !== undefined) this.#failure(last, true);
  }

  /** A failure after which the run goes on. */
  failure(failure: Failure): void {
    this.#failure(failure, false);
  }

  #failure(failure: Failure, decisive: boolean): void {
    const showStack = failure.code === 'BUG' || this.level === 'debug';
    if (this.format === 'json') {
      const { exitCode, code, message, hint, operands, stack } = failure;
      const error = { code, message, hint, exitCode, ...operands, ...(showStack && { stack }) };
      this.#runtime.writeError(`${safeJson(decisive ? { error } : { level: 'error', message, code, exitCode })}\n`);
      return;
    }
    const lines = [`Error: ${escapeText(failure.message)}`];
    if (failure.hint !== undefined) lines.push(`  hint: ${escapeText(failure.hint)}`);
    // The first line of a stack repeats the message.
    if (showStack) lines.push(...(failure.stack ?? '').split('\n').slice(1).map(escapeText));
    this.#runtime.writeError(`${lines.join('\n')}\n`);
  }

  #write(level: LogLevel, message: string, fields: Fields): void {
    if (!this.enabled(level)) return;
    if (this.format === 'json') this.#runtime.writeError(`${safeJson({ level, message, ...fields })}\n`);
    else this.#runtime.writeError(`${level === 'warn' ? 'Warning: ' : ''}${escapeText(message)}\n`);
  }
}
