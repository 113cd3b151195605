import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../lib/cli/base-command.ts';
import { bashCompletion } from '../lib/cli/completion/bash.ts';
import { fishCompletion } from '../lib/cli/completion/fish.ts';
import { completedCommands, DYNAMIC_VALUES } from '../lib/cli/completion/model.ts';
import { dynamicValues } from '../lib/cli/completion/values.ts';
import { zshCompletion } from '../lib/cli/completion/zsh.ts';
import { commandArgs, commandFlags } from '../lib/cli/define.ts';
import { sharedFlags } from '../lib/cli/shared-flags.ts';
import { UsageError } from '../lib/errors.ts';

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

export default class Completion extends BaseCommand {
  static override summary = 'print the script that completes commands, flags and values in a shell';
  static override description =
    'The script completes commands, flags, their values, the maps of this node and identities. It belongs to the ipc that\n' +
    'printed it: print it again after an upgrade.';
  static override examples = [
    { description: 'for the shell at hand', command: 'source <(<%= config.bin %> completion bash)' },
    {
      description: 'for all users of this machine',
      command: '<%= config.bin %> completion fish --file /etc/fish/completions/ipc.fish',
    },
  ];
  static override baseFlags = sharedFlags({ outputs: ['table'] });
  static override flags = commandFlags({
    values: Flags.option({
      options: DYNAMIC_VALUES,
      summary: 'print the words that the script asks for',
      hidden: true,
      env: '',
    })(),
  });
  static override args = commandArgs({
    shell: Args.string({ options: ['bash', 'zsh', 'fish'], description: 'bash, zsh or fish' }),
  });

  async run(): Promise<void> {
    const { flags, args } = await this.parse(Completion);
    if (flags.values !== undefined) {
      const values = dynamicValues(flags.values, { bpffs: this.shared.bpffs, tcBpfMnt: this.foreign('TC_BPF_MNT') });
      this.out.write(Buffer.from(values.map(({ word, meaning }) => `${word}\t${meaning}\n`).join('')));
      return;
    }
    const script = SCRIPTS[args.shell as keyof typeof SCRIPTS];
    if (script === undefined) {
      throw new UsageError('Cannot print a completion script: no shell is named', {
        code: 'MISSING_ARGUMENT',
        hint: 'name bash, zsh or fish',
      });
    }
    this.out.write(Buffer.from(script(completedCommands(this.config.commands))));
  }
}
