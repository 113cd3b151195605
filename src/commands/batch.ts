import * as Flags from '@oclif/core/flags';
import { fileArg } from '../lib/cli/args.ts';
import { BaseCommand } from '../lib/cli/base-command.ts';
import { inheritedFrom } from '../lib/cli/batch/batch-command.ts';
import { jsonOutput, plainOutput } from '../lib/cli/batch/batch-output.ts';
import { isRegularFile, openBatch } from '../lib/cli/batch/open-batch.ts';
import { checkLines, runLines } from '../lib/cli/batch/run-batch.ts';
import { commandArgs, commandFlags } from '../lib/cli/define.ts';
import { isMachineFormat } from '../lib/cli/output-choice.ts';
import { sharedFlags } from '../lib/cli/shared-flags.ts';

export default class Batch extends BaseCommand {
  static override summary = 'run many commands in one process, one a line';
  static override description =
    'A line is what stands behind ipc on a command line, in words as a shell has them: single and double quotes,\n' +
    'backslashes, # comments; a backslash at its end continues it. Nothing is expanded. Flags given to batch hold for\n' +
    'every line that does not set them itself.\n\n' +
    'FILE is checked before anything runs, standard input is run as it is read. The first command that fails ends the\n' +
    'batch with its exit status; with --keep-going the rest runs and the worst status counts. With --json there is one\n' +
    'JSON object a line for each command, with what it printed as result. batch and listen cannot be run.';
  static override examples = [
    {
      description: 'everything that a script prepared, stopping at the first failure',
      command: '<%= config.bin %> batch changes.txt',
    },
    {
      description: 'many different questions without a start of the program for each',
      command: 'printf "get 10.1.2.3\\nidentity 16777217\\n" | <%= config.bin %> batch - --json --keep-going',
    },
  ];
  static override baseFlags = sharedFlags({ outputs: ['table', 'json', 'ndjson'] });
  static override flags = commandFlags({
    'keep-going': Flags.boolean({ summary: 'go on after a command that failed' }),
    'dry-run': Flags.boolean({ char: 'n', summary: 'give --dry-run to every command that has it' }),
  });
  static override args = commandArgs({
    file: fileArg({ required: true, description: 'file with the commands, - for standard input' }),
  });

  async run(): Promise<void> {
    const { flags, args } = await this.parse(Batch);
    const { shared, valueSources, signal, out, config, runtime } = this;
    const { file } = args;
    const json = isMachineFormat(shared.output);
    const run = {
      config,
      file,
      inherited: inheritedFrom(shared, valueSources, { json, dryRun: flags['dry-run'] }),
      output: json ? jsonOutput(out) : plainOutput(out),
      keepGoing: flags['keep-going'],
      signal,
      beforeExit: () => out.abort(),
    };
    const lines = () => openBatch(file, () => runtime.stdin);
    if (isRegularFile(file) && !run.keepGoing) await checkLines(lines(), run);
    try {
      await runLines(lines(), run);
    } finally {
      if (!signal.aborted) await out.end();
    }
  }
}
