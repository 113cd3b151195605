/** A line of a batch as a command of the program, with the flags that it inherits from the batch. */
import type { Config, FlagInput } from '@oclif/core/interfaces';
import { UsageError } from '../../errors.ts';
import { scanArgv } from '../argv-scan.ts';
import { asksForHelp, isVersion } from '../dispatch.ts';
import { commandLine } from '../first-look.ts';
import type { ValueSource } from '../layered-values.ts';
import type { SharedValues } from '../shared-flags.ts';
import { unknownCommand } from '../usage-error.ts';

/** A command that ends on a signal only, and the one that would read what the batch reads. */
const EXCLUDED: readonly string[] = ['batch', 'listen'];

/** Variables and the config file reach every command by themselves; these are what else the batch was told. */
const INHERITED = ['map', 'bpffs', 'layout', 'state-dir', 'config', 'log-format'] as const;
/** A line that sets one of them says how much it wants to tell. */
const LOUDNESS = ['quiet', 'verbose', 'log-level'] as const;

export interface Inherited {
  /** Flags of the batch that were on its command line. */
  readonly words: ReadonlyMap<string, string>;
  /** The result of every command is embedded in JSON. */
  readonly json: boolean;
  readonly dryRun: boolean;
}

/** What the lines of a batch inherit. */
export function inheritedFrom(
  shared: SharedValues,
  sources: ReadonlyMap<string, ValueSource>,
  options: Omit<Inherited, 'words'>,
): Inherited {
  const words = new Map<string, string>();
  for (const name of [...INHERITED, ...LOUDNESS]) {
    if (sources.get(name)?.from !== 'flag') continue;
    const value = shared[name];
    words.set(name, typeof value === 'string' ? `--${name}=${value}` : `--${name}`);
  }
  return { words, ...options };
}

/** Finds the command of a line. @returns its words, the name first @throws {UsageError} when it cannot be run in a batch */
export function checkCommand(config: Pick<Config, 'findCommand' | 'commandIDs'>, line: readonly string[]): string[] {
  const words = commandLine(line);
  const [id = ''] = words;
  if (isVersion(id) || asksForHelp(words)) throw excluded('help and version', 'they are no commands');
  if (EXCLUDED.includes(id)) throw excluded(`ipc ${id}`, 'it cannot run within a batch');
  if (config.findCommand(id) === undefined) throw unknownCommand(id, config.commandIDs);
  return [...words];
}

/** Adds what the command inherits and does not say itself. @param flags the definitions of the command */
export function withInherited(words: readonly string[], flags: FlagInput, inherited: Inherited): string[] {
  const [id = '', ...rest] = words;
  const { values } = scanArgv(rest, flags);
  const says = (...names: readonly string[]): boolean => names.some((name) => values.has(name));
  const added: string[] = [];
  for (const [name, word] of inherited.words) {
    const loudness = (LOUDNESS as readonly string[]).includes(name);
    if (!says(...(loudness ? LOUDNESS : [name]))) added.push(word);
  }
  // A command that writes its result to a file of its own may choose the format of it.
  if (inherited.json && !says('json') && !(says('file') && says('output'))) added.push('--json');
  if (inherited.dryRun && Object.hasOwn(flags, 'dry-run') && !says('dry-run')) added.push('--dry-run');
  return [id, ...added, ...rest];
}

function excluded(what: string, state: string): UsageError {
  return new UsageError(`Cannot run ${what}: ${state}`, {
    code: 'NOT_IN_A_BATCH',
    hint: 'run it beside the batch',
  });
}
