import { UsageError } from '../errors.ts';
import type { OutputFormat } from '../output/format.ts';
import type { ValueSource } from './layered-values.ts';
import type { Log, LogFormat, LogLevel } from './log.ts';
import type { SharedValues } from './shared-flags.ts';

/** Formats whose reader is a program that also reads standard error. */
export function isMachineFormat(format: string | undefined): boolean {
  return format === 'json' || format === 'ndjson';
}

/**
 * The format of the result: `-j` is `-o json`.
 * @throws {UsageError} when both are given and differ, or the command has no JSON
 */
export function outputOf(
  values: SharedValues,
  flag: object | undefined,
  source: ValueSource | undefined,
): OutputFormat {
  if (!values.json || values.output === 'json') return values.output;
  if (source?.from === 'flag') {
    throw new UsageError(`Cannot print as ${values.output} and as json: --json is the same as -o json`, {
      code: 'USAGE',
      hint: 'leave out one of the two',
    });
  }
  const options = (flag as { readonly options?: readonly string[] } | undefined)?.options ?? [];
  if (options.includes('json')) return 'json';
  throw new UsageError('Cannot print as json: this command prints text only', {
    code: 'USAGE',
    hint: `it prints ${options.join(', ')}`,
  });
}

/** Sets level and form of what goes to standard error. */
export function applyLogValues(log: Log, values: SharedValues): void {
  log.level = values.verbose
    ? 'debug'
    : values.quiet
      ? 'error'
      : ((values['log-level'] as LogLevel | undefined) ?? 'info');
  const format = (values['log-format'] as LogFormat | undefined) ?? 'text';
  log.format = isMachineFormat(values.output) ? 'json' : format;
}
