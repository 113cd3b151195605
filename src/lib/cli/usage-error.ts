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
  return usage(`Cannot run ${command.name}: ${plainReason(text)}`, command, 'USAGE');
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

/** A command that does not exist, with the one that was probably meant. */
export function unknownCommand(name: string, known: readonly string[]): UsageError {
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

/** oclif's sentences, without its headline and as the second half of ours. */
function plainReason(text: string): string {
  const reason = text.replace(/^The following errors? occurred:\n\s*/, '').replace(/\s*\n\s*/g, '; ');
  return reason.charAt(0).toLowerCase() + reason.slice(1);
}
