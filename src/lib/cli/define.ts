/**
 * Flags and arguments of a command in the house's way. Every command passes its own through these two functions, so that
 * no command can forget a rule: scalar flags have their `IPC_*` variable, repeatable ones take comma lists, never eat a
 * positional and have no variable, and no argument reads standard input by itself.
 */
import type { ArgInput, FlagInput } from '@oclif/core/interfaces';

/** A property of a flag definition that `commandFlags` reads: the value holds commas of its own and is not split. */
export interface WholeValue {
  readonly whole?: boolean;
}

/** A flag whose empty value says that there shall be none; spread into the definition. */
export const EMPTY_IS_NONE = { emptyIsNone: true } as const;

/** The environment variable of a flag. */
export function variableOf(flag: string): string {
  return `IPC_${flag.replaceAll('-', '_').toUpperCase()}`;
}

/** Completes flag definitions; returns the same object. */
export function commandFlags<T extends FlagInput>(flags: T): T {
  for (const [name, flag] of Object.entries(flags)) {
    if (flag.type === 'boolean') {
      if (!flag.allowNo) flag.default ??= false;
    } else if (flag.multiple) {
      flag.multipleNonGreedy = true;
      if ((flag as WholeValue).whole !== true) flag.delimiter = ',';
    } else {
      flag.env ??= variableOf(name);
    }
  }
  return flags;
}

/** Completes argument definitions; returns the same object. */
export function commandArgs<T extends ArgInput>(args: T): T {
  for (const arg of Object.values(args)) arg.ignoreStdin = true;
  return args;
}
