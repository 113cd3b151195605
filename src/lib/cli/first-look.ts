/** What the command line says before any command has parsed it. */

import { OUTPUT_FORMATS } from '../output/format.ts';
import { scanArgv } from './argv-scan.ts';
import type { Log } from './log.ts';
import { isMachineFormat } from './output-choice.ts';
import { sharedFlags } from './shared-flags.ts';

/** Sets the form of errors from the raw command line, so that even a command line that cannot be parsed fails in JSON. */
export function firstLook(argv: readonly string[], env: Readonly<Record<string, string | undefined>>, log: Log): void {
  const { values } = scanArgv(argv, sharedFlags({ outputs: OUTPUT_FORMATS }));
  const output = values.get('output')?.at(-1) ?? env.IPC_OUTPUT;
  if (values.has('json') || isMachineFormat(String(output))) log.format = 'json';
  if (values.has('verbose')) log.level = 'debug';
}

/** `ipc help CMD` is `ipc CMD --help`; flags in front of the command go behind it, as bpftool's users write them. */
export function commandLine(argv: readonly string[]): readonly string[] {
  const [first, ...rest] = argv;
  if (first === 'help') return [...commandLine(rest), '--help'];
  if (!first?.startsWith('-')) return argv;
  const { positionals, commandAt } = scanArgv(argv, sharedFlags({ outputs: OUTPUT_FORMATS }));
  if (positionals[0] === undefined || commandAt === undefined) return argv;
  return commandLine([positionals[0], ...argv.slice(0, commandAt), ...argv.slice(commandAt + 1)]);
}
