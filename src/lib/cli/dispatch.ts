/** From the words of a command line to the command that runs them. */
import type { Config } from '@oclif/core/interfaces';
import { commandLine } from './first-look.ts';
import { showHelp } from './help.ts';
import { runContextOf } from './run-context.ts';
import { unknownCommand } from './usage-error.ts';

/** Runs a command, or prints help or the version. @throws whatever the command throws; UsageError for an unknown one */
export async function dispatch(config: Config, words: readonly string[]): Promise<void> {
  const argv = commandLine(words);
  const [id, ...rest] = argv;
  if (id !== undefined && isVersion(id)) {
    runContextOf(config).runtime.stdout.write(Buffer.from(`${config.userAgent}\n`));
    return;
  }
  const known = id === undefined ? undefined : config.findCommand(id);
  if (id === undefined || asksForHelp(argv)) {
    if (known === undefined && id !== undefined && !asksForHelp([id])) throw unknownCommand(id, config.commandIDs);
    await showHelp(config, known?.id);
    return;
  }
  if (known === undefined) throw unknownCommand(id, config.commandIDs);
  await config.runCommand(id, rest, known);
}

/** Whether a first word asks for the version. */
export function isVersion(word: string): boolean {
  return ['--version', '-V', 'version'].includes(word);
}

/** Whether the words, up to `--`, ask for help. */
export function asksForHelp(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  return words.slice(0, end < 0 ? undefined : end).some((word) => word === '--help' || word === '-h');
}
