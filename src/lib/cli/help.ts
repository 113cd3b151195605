/** Help: the first screen groups commands by what one wants to do; the rest is oclif's. */
import type { Command } from '@oclif/core/command';
import { Help } from '@oclif/core/help';
import { runContextOf } from './run-context.ts';

const GROUPS: readonly (readonly [title: string, commands: readonly string[]])[] = [
  ['look', ['dump', 'get', 'identity', 'stats', 'watch']],
  ['compare', ['snapshot', 'diff', 'verify', 'doctor']],
  ['keep', ['restore', 'release', 'status']],
  ['change', ['set', 'delete', 'gc']],
  ['run', ['listen']],
  ['bytes', ['decode', 'encode', 'batch', 'completion']],
];

/** Named in package.json as oclif's help class. */
export class IpcHelp extends Help {
  protected override log(...lines: string[]): void {
    runContextOf(this.config).runtime.stdout.write(Buffer.from(`${lines.join('\n')}\n`));
  }

  protected override formatCommands(commands: Command.Loadable[]): string {
    const grouped = new Set(GROUPS.flatMap(([, names]) => names));
    const others = commands.map((command) => command.id).filter((id) => !grouped.has(id));
    const width = Math.max(...commands.map((command) => command.id.length)) + 2;
    const blocks: string[] = [];
    for (const [title, names] of [...GROUPS, ['other', others] as const]) {
      const lines = names
        .map((name) => commands.find((command) => command.id === name))
        .filter((command) => command !== undefined)
        .map((command) => `  ${command.id.padEnd(width)}${this.summary(command) ?? ''}`);
      if (lines.length > 0) blocks.push(this.section(title.toUpperCase(), lines.join('\n').replace(/^ {2}/gm, '')));
    }
    return blocks.join('\n\n');
  }
}
