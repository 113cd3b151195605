/** Help: the first screen groups commands by what one wants to do; the rest is oclif's. */
import type { Command } from '@oclif/core/command';
import type * as HelpModule from '@oclif/core/help';
import type { Config } from '@oclif/core/interfaces';
import { runContextOf } from './run-context.ts';

const GROUPS: readonly (readonly [title: string, commands: readonly string[]])[] = [
  ['look', ['dump', 'get', 'identity']],
  ['compare', ['snapshot', 'diff', 'doctor']],
  ['keep', ['restore', 'release', 'status']],
  ['change', ['set', 'delete', 'gc']],
  ['run', ['listen']],
  ['bytes', ['decode', 'encode', 'batch', 'completion']],
];

/** Prints the help of a command, or the first screen. */
export async function showHelp(config: Config, command: string | undefined): Promise<void> {
  const { CommandHelp, Help } = require('@oclif/core/help') as typeof HelpModule;
  const { runtime } = runContextOf(config);

  class IpcCommandHelp extends CommandHelp {
    protected override defaultUsage(): string {
      const args = Object.values(this.command.args).map((arg) => this.arg(arg));
      return [this.command.id, ...args, '[FLAGS]'].join(' ');
    }

    protected override description(): string | undefined {
      // Paragraphs are wrapped to the width of the terminal, whatever the source's line ends.
      const paragraphs = this.command.description?.split('\n\n').map((text) => text.replaceAll('\n', ' '));
      return paragraphs && this.wrap(paragraphs.join('\n\n'));
    }

    protected override groupFlags(flags: Command.Flag.Any[]): ReturnType<HelpModule.CommandHelp['groupFlags']> {
      const { mainFlags, flagGroups } = super.groupFlags(flags);
      const { GLOBAL = [], ...own } = flagGroups;
      return { mainFlags, flagGroups: { ...own, GLOBAL } };
    }
  }

  class IpcHelp extends Help {
    protected override CommandHelpClass = IpcCommandHelp;

    protected override log(...lines: string[]): void {
      runtime.stdout.write(Buffer.from(`${lines.join('\n')}\n`));
    }

    protected override formatCommands(commands: Command.Loadable[]): string {
      const width = Math.max(...commands.map(({ id }) => id.length)) + 2;
      const line = ({ id, ...command }: Command.Loadable): string => `${id.padEnd(width)}${command.summary ?? ''}`;
      return grouped(commands)
        .map(([title, members]) => this.section(title.toUpperCase(), members.map(line).join('\n')))
        .join('\n\n');
    }
  }

  await new IpcHelp(config, config.pjson.oclif.helpOptions).showHelp(command === undefined ? [] : [command]);
}

/** The groups of the first screen that have members; commands of no group come last. */
function grouped(commands: readonly Command.Loadable[]): [title: string, members: Command.Loadable[]][] {
  const titled = new Set(GROUPS.flatMap(([, names]) => names));
  const others = commands.map(({ id }) => id).filter((id) => !titled.has(id));
  return [...GROUPS, ['other', others] as const]
    .map(([title, names]): [string, Command.Loadable[]] => [
      title,
      names.flatMap((name) => commands.filter(({ id }) => id === name)),
    ])
    .filter(([, members]) => members.length > 0);
}
