/** What completion knows of the commands, out of the manifest. */
import type { Command } from '@oclif/core/command';

/** Where the words come from that can follow: a fixed list, the program, the file system, or nowhere. */
export type Completion =
  | { readonly from: 'words'; readonly words: readonly string[] }
  | { readonly from: 'program'; readonly what: DynamicValues }
  | { readonly from: 'files' | 'directories' | 'nowhere' };

export const DYNAMIC_VALUES = ['map', 'identity'] as const;
export type DynamicValues = (typeof DYNAMIC_VALUES)[number];

export interface CompletedFlag {
  readonly name: string;
  readonly char?: string | undefined;
  readonly summary: string;
  /** Has also a `--no-` form. */
  readonly negatable: boolean;
  /** Can be given several times, or once with a comma list. */
  readonly repeatable: boolean;
  /** Absent: it takes no value. */
  readonly value?: Completion;
  /** The name of the value in help. */
  readonly valueName: string;
}

export interface CompletedCommand {
  readonly id: string;
  readonly summary: string;
  readonly flags: readonly CompletedFlag[];
  readonly args: Completion;
}

type Described = Pick<Command.Loadable, 'id' | 'summary' | 'flags' | 'args'>;

/** The commands by name, and in each the flags by name. */
export function completedCommands(commands: readonly Described[]): CompletedCommand[] {
  return commands
    .map(({ id, summary = '', flags, args }) => ({
      id,
      summary,
      flags: Object.values(flags)
        .filter((flag) => flag.hidden !== true)
        .map(completedFlag)
        .sort(byName),
      args: argsOf(id, Object.values(args)),
    }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

function completedFlag(flag: Command.Flag.Any): CompletedFlag {
  const { name, char, summary = '' } = flag;
  if (flag.type === 'boolean') {
    return { name, char, summary, negatable: flag.allowNo === true, repeatable: false, valueName: '' };
  }
  const helpValue = Array.isArray(flag.helpValue) ? flag.helpValue[0] : flag.helpValue;
  const valueName = helpValue ?? name.toUpperCase();
  const value = valuesOf(flag.options, valueName);
  return { name, char, summary, negatable: false, repeatable: flag.multiple === true, valueName, value };
}

function valuesOf(options: readonly string[] | undefined, valueName: string): Completion {
  if (options !== undefined) return { from: 'words', words: options };
  return BY_VALUE_NAME[valueName] ?? { from: 'nowhere' };
}

const BY_VALUE_NAME: Readonly<Record<string, Completion>> = {
  MAP: { from: 'program', what: 'map' },
  IDENTITY: { from: 'program', what: 'identity' },
  FILE: { from: 'files' },
  DIR: { from: 'directories' },
};

/** What can stand in the place of an argument, by its name. */
const BY_ARGUMENT: Readonly<Record<string, Completion>> = {
  file: { from: 'files' },
  map: { from: 'program', what: 'map' },
  a: { from: 'program', what: 'map' },
  b: { from: 'program', what: 'map' },
};

function argsOf(id: string, args: readonly Command.Arg.Any[]): Completion {
  if (id === 'identity') return { from: 'program', what: 'identity' };
  const [first] = args;
  if (first?.options !== undefined) return { from: 'words', words: first.options };
  return BY_ARGUMENT[first?.name ?? ''] ?? { from: 'nowhere' };
}

function byName(a: CompletedFlag, b: CompletedFlag): number {
  return a.name < b.name ? -1 : 1;
}
