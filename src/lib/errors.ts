/**
 * Every expected failure of `ipc`, and the one table that turns a kind of failure into an exit status.
 * Anything that is not a ToolError is a bug and ends with 70.
 */

/** Exit statuses of the program; users script against these numbers. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  ambiguous: 4,
  notPermitted: 5,
  kernelFeature: 6,
  incomplete: 7,
  unreachable: 8,
  malformed: 9,
  finding: 10,
  locked: 11,
  noEntry: 12,
  refused: 13,
  bug: 70,
} as const;

/** When several failures meet in one run, the first of these that occurred is the exit status. */
const PRECEDENCE: readonly number[] = [70, 2, 3, 4, 5, 6, 9, 11, 8, 7, 13, 12, 10, 1];

/** Picks the exit status of a run in which several things went wrong. @returns 0 for an empty list. */
export function worstExit(codes: Iterable<number>): number {
  const seen = new Set(codes);
  seen.delete(EXIT.ok);
  return PRECEDENCE.find((code) => seen.has(code)) ?? seen.values().next().value ?? EXIT.ok;
}

/** What an error was about; every field is shown in JSON under its own name. */
export interface ErrorOperands {
  readonly path?: string;
  readonly errno?: string;
  readonly syscall?: string;
  readonly file?: string;
  readonly line?: number;
  readonly offset?: number;
  readonly field?: string;
  readonly prefix?: string;
  readonly pid?: number;
  readonly [operand: string]: string | number | boolean | readonly string[] | undefined;
}

export interface ToolErrorOptions {
  /** Stable upper-case word that scripts may test. */
  readonly code?: string;
  /** What to do next: one sentence or a command. */
  readonly hint?: string;
  readonly cause?: unknown;
  readonly operands?: ErrorOperands;
}

/** An expected failure. The message reads *Cannot <action> <operand>: <state>*, without a final period. */
export abstract class ToolError extends Error {
  abstract readonly exitCode: number;
  readonly code: string;
  readonly hint: string | undefined;
  readonly operands: ErrorOperands;

  protected constructor(defaultCode: string, message: string, options: ToolErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = options.code ?? defaultCode;
    this.hint = options.hint;
    this.operands = options.operands ?? {};
  }

  /** oclif takes the exit status from here in text mode and from `exitCode` under --json. */
  get oclif(): { exit: number } {
    return { exit: this.exitCode };
  }
}

/** The operation was tried and failed for a reason that has no status of its own. */
export class FailedError extends ToolError {
  readonly exitCode = EXIT.failed;
  constructor(message: string, options?: ToolErrorOptions) {
    super('FAILED', message, options);
  }
}

/** The command line, the environment or the config file asks for something that makes no sense. */
export class UsageError extends ToolError {
  readonly exitCode = EXIT.usage;
  constructor(message: string, options?: ToolErrorOptions) {
    super('USAGE', message, options);
  }
}

/** No such map, pin, snapshot or state. */
export class NotFoundError extends ToolError {
  readonly exitCode = EXIT.notFound;
  constructor(message: string, options?: ToolErrorOptions) {
    super('NOT_FOUND', message, options);
  }
}

/** The layout, or the choice of a map, is unknown or ambiguous. */
export class AmbiguousError extends ToolError {
  readonly exitCode = EXIT.ambiguous;
  constructor(message: string, options?: ToolErrorOptions) {
    super('AMBIGUOUS', message, options);
  }
}

/** Bytes that do not have the shape of any ipcache layout asked for. */
export class LayoutError extends ToolError {
  readonly exitCode = EXIT.ambiguous;
  constructor(message: string, options?: ToolErrorOptions) {
    super('LAYOUT', message, options);
  }
}

/** The kernel or the file system said no. */
export class NotPermittedError extends ToolError {
  readonly exitCode = EXIT.notPermitted;
  constructor(message: string, options?: ToolErrorOptions) {
    super('NOT_PERMITTED', message, options);
  }
}

/** The kernel lacks a feature; the message names it and the version that has it. */
export class KernelFeatureError extends ToolError {
  readonly exitCode = EXIT.kernelFeature;
  constructor(message: string, options?: ToolErrorOptions) {
    super('KERNEL_FEATURE', message, options);
  }
}

/** A walk that did not cover the map, an entry that should have been written and was not, a conflict. */
export class IncompleteError extends ToolError {
  readonly exitCode = EXIT.incomplete;
  constructor(message: string, options?: ToolErrorOptions) {
    super('INCOMPLETE', message, options);
  }
}

/** A source or agent cannot be reached or did not synchronise in time. */
export class UnreachableError extends ToolError {
  readonly exitCode = EXIT.unreachable;
  constructor(message: string, options?: ToolErrorOptions) {
    super('UNREACHABLE', message, options);
  }
}

/** Malformed input; the operands name file, line or offset, and field. */
export class MalformedError extends ToolError {
  readonly exitCode = EXIT.malformed;
  constructor(message: string, options?: ToolErrorOptions) {
    super('MALFORMED', message, options);
  }
}

/** A check found something at or above --fail-on. */
export class FindingError extends ToolError {
  readonly exitCode = EXIT.finding;
  constructor(message: string, options?: ToolErrorOptions) {
    super('FINDING', message, options);
  }
}

/** Another ipc holds the lock. */
export class LockedError extends ToolError {
  readonly exitCode = EXIT.locked;
  constructor(message: string, options?: ToolErrorOptions) {
    super('LOCKED', message, options);
  }
}

/** No such entry or identity. */
export class NoEntryError extends ToolError {
  readonly exitCode = EXIT.noEntry;
  constructor(message: string, options?: ToolErrorOptions) {
    super('NO_ENTRY', message, options);
  }
}

/** An owner, a guard or an expectation said no; nothing was changed. */
export class RefusedError extends ToolError {
  readonly exitCode = EXIT.refused;
  constructor(message: string, options?: ToolErrorOptions) {
    super('REFUSED', message, options);
  }
}
