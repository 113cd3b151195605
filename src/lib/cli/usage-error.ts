/** Says what is wrong with a command line in the house's words; oclif's errors carry the facts. */
import { ToolError, type ToolErrorOptions, UsageError } from '../errors.ts';
import { nearestName, suggestion } from './nearest.ts';

interface OclifError extends Error {
  readonly oclif?: { readonly exit?: number };
  readonly args?: readonly (string | { readonly name: string })[];
}

/** The part of a command that messages need. */
export interface CommandFacts {
  /** As typed: `ipc dump`. */
  readonly name: string;
  readonly flags: readonly string[];
  readonly argCount: number;
}

const WRAPPED = /^Parsing --(\S+) \n\t([\s\S]*)\nSee more help with --help$/;
const NOT_AN_OPTION = /^Expected (?:--(\S+?)=)?([\s\S]*) to be one of: (.*)$/;

/** oclif's sentences and ours; `$1` and `$2` are the words that matter. */
const REWORDED: readonly (readonly [pattern: RegExp, message: string])[] = [
  [/^Flag --(\S+) expects (?:a value|one of these values: .*)$/, 'Cannot use --$1: it needs a value'],
  [/^Flag --(\S+) can only be specified once$/, 'Cannot use --$1: it is given twice'],
  [
    /^--(\S+?)(?:=.*)? cannot also be provided when using --(\S+)$/,
    'Cannot use --$1 with --$2: one excludes the other',
  ],
  [/^All of the following must be provided when using --(\S+): (.*)$/, 'Cannot use --$1: it needs $2'],
  [
    /^(?:One|At least one|Exactly one) of the following must be provided(?: when using --\S+)?: (.*)$/,
    'Cannot run the command: one of $1 is missing',
  ],
  [/^Missing required flag (\S+)$/, 'Cannot run the command: --$1 is missing'],
];

/** @returns a UsageError for whatever the parser threw, or the error itself when it is a bug of ours. */
export function usageErrorOf(error: unknown, command: CommandFacts): unknown {
  if (!(error instanceof Error)) return error;
  const wrapped = WRAPPED.exec(error.message);
  const text = (wrapped?.[2] ?? error.message).replace(/\nSee more help with --help$/, '');
  if (error instanceof ToolError) return sameAsUsage(error, text, wrapped?.[1]);
  const { oclif, args } = error as OclifError;
  if (oclif?.exit !== 2) return error;
  const option = NOT_AN_OPTION.exec(text);
  if (option !== null) return notAnOption(option);
  if (args !== undefined && text.startsWith('Unexpected argument')) return unexpected(String(args[0]), command);
  if (args !== undefined && text.startsWith('Missing')) {
    const names = args.map((arg) => (typeof arg === 'string' ? arg : arg.name).toUpperCase());
    return usage(`Cannot run ${command.name}: ${names.join(' and ')} missing`, command, 'MISSING_ARGUMENT');
  }
  return usage(reworded(text, wrapped?.[1], command), command, 'USAGE');
}

/** A flag that does not exist, with the one that was probably meant. */
export function unknownFlag(flag: string, command: CommandFacts): UsageError {
  const near = flag.startsWith('--') ? nearestName(flag.slice(2), command.flags) : undefined;
  return new UsageError(`Cannot use ${flag}: ${command.name} has no such flag`, {
    code: 'UNKNOWN_FLAG',
    hint: suggestion(near && `--${near}`, helpHint(command)),
    operands: { flag },
  });
}

/** Few flags have a use for an empty value: it comes from a variable of a script that is not set. */
export function emptyFlag(name: string, command: CommandFacts): UsageError {
  const flag = `--${name}`;
  return new UsageError(`Cannot use ${flag}: its value is empty`, {
    code: 'EMPTY_VALUE',
    hint: helpHint(command),
    operands: { flag },
  });
}

/** A command that does not exist, with the one that was probably meant; or flags without any. */
export function unknownCommand(name: string, known: readonly string[]): UsageError {
  if (name.startsWith('-')) {
    return new UsageError(`Cannot use ${name}: no command is named that could take it`, {
      code: 'MISSING_COMMAND',
      hint: 'ipc --help lists the commands',
      operands: { flag: name },
    });
  }
  return new UsageError(`Cannot run ${JSON.stringify(name)}: no such command`, {
    code: 'UNKNOWN_COMMAND',
    hint: suggestion(nearestName(name, known), 'ipc --help lists the commands'),
    operands: { command: name },
  });
}

/** A value that came as flag or argument is a usage error, whatever kind of error its reader throws. */
function sameAsUsage(error: ToolError, message: string, flag: string | undefined): UsageError {
  const options: ToolErrorOptions = {
    code: error.code,
    cause: error,
    operands: { ...error.operands, ...(flag && { flag: `--${flag}` }) },
  };
  return new UsageError(message, error.hint === undefined ? options : { ...options, hint: error.hint });
}

function notAnOption([, flag, given = '', list = '']: RegExpExecArray): UsageError {
  const options = list.split(', ');
  return new UsageError(`Cannot use ${flag ? `--${flag} ` : ''}${given}: not one of ${list}`, {
    code: 'BAD_VALUE',
    hint: suggestion(nearestName(given, options), `one of ${list}`),
    operands: flag ? { flag: `--${flag}` } : {},
  });
}

function unexpected(word: string, command: CommandFacts): UsageError {
  const takes =
    command.argCount === 0
      ? 'takes no arguments'
      : `takes ${command.argCount} argument${command.argCount > 1 ? 's' : ''}`;
  return usage(`Cannot use ${JSON.stringify(word)}: ${command.name} ${takes}`, command, 'UNEXPECTED_ARGUMENT');
}

function usage(message: string, command: CommandFacts, code: string): UsageError {
  return new UsageError(message, { code, hint: helpHint(command) });
}

function helpHint(command: CommandFacts): string {
  return `${command.name} --help lists what it takes`;
}

/** The first reason that oclif gives, in our words. */
function reworded(text: string, flag: string | undefined, command: CommandFacts): string {
  const reason =
    text
      .replace(/^The following errors? occurred:\n\s*/, '')
      .split('\n')[0]
      ?.trim() ?? text;
  for (const [pattern, message] of REWORDED) {
    if (pattern.test(reason))
      return reason.replace(pattern, message).replace('Cannot run the command', `Cannot run ${command.name}`);
  }
  const state = reason.charAt(0).toLowerCase() + reason.slice(1);
  return flag === undefined ? `Cannot run ${command.name}: ${state}` : `Cannot use --${flag}: ${state}`;
}
