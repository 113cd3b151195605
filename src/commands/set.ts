import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../lib/cli/base-command.ts';
import { changeMap } from '../lib/cli/change-map.ts';
import { commandArgs, commandFlags } from '../lib/cli/define.ts';
import { encryptKeyFlag, flagBitsFlag, identityFlag, tunnelEndpointFlag } from '../lib/cli/flags.ts';
import { readSetRequest } from '../lib/cli/set-request.ts';
import { runPutBack, runSet } from '../lib/cli/set-run.ts';
import { sharedFlags } from '../lib/cli/shared-flags.ts';
import { overrideOwnerFlag, soleWriterFlag } from '../lib/cli/use-owner.ts';
import { IncompleteError } from '../lib/errors.ts';
import { planView } from '../lib/output/plan-view.ts';

// biome-ignore lint/suspicious/noShadowRestrictedNames: a command is named after its file
export default class Set extends BaseCommand {
  static override summary = 'write one entry';
  static override description =
    'Writes the entry as a whole: what is not given is none, but flag bits without a name stay as they are. An entry that\n' +
    'has this value already is not written. On the map of an agent it is refused: the agent would not know of it.\n' +
    'With --from-backup the entries that ipc gc deleted are put back, byte for byte, and nothing is written over.';
  static override examples = [
    {
      description: 'give a network the local identity that another node has for it, unless it has one',
      command: '<%= config.bin %> set 192.0.2.0/24 --identity 16777217 --create',
    },
    {
      description: 'move a pod behind another node, if it still has the identity that was seen',
      command: '<%= config.bin %> set 10.0.1.7 --identity 41234 --tunnel 192.0.2.10 --expect-identity 41234 --dry-run',
    },
  ];
  static override baseFlags = sharedFlags({ outputs: ['table', 'json'] });
  static override flags = commandFlags({
    identity: identityFlag({ summary: 'number, or name of a reserved identity' }),
    tunnel: tunnelEndpointFlag({ summary: 'address of the node that the prefix is reached through' }),
    'encrypt-key': encryptKeyFlag({ summary: 'IPsec key, 0 for none', default: 0 }),
    flag: flagBitsFlag({ multiple: true, aliases: ['flags'], summary: 'flag to set, by name or as a number' }),
    create: Flags.boolean({ summary: 'refuse if there is an entry', exclusive: ['replace'] }),
    replace: Flags.boolean({ summary: 'refuse unless there is an entry' }),
    'expect-identity': identityFlag({ summary: 'refuse unless the entry has this identity now' }),
    'allow-gap': Flags.boolean({
      summary: 'where a full map cannot be changed in place, delete the entry and write it again',
    }),
    'from-backup': Flags.string({
      summary: 'put back what this backup has and the map lacks',
      helpValue: 'FILE',
      env: '',
    }),
    'dry-run': Flags.boolean({ char: 'n', summary: 'show the bytes and write nothing' }),
    'override-owner': overrideOwnerFlag(),
    'sole-writer': soleWriterFlag(),
  });
  static override args = commandArgs({
    prefix: Args.string({ description: 'ADDR or ADDR/LEN, with @CLUSTER', required: false }),
  });

  async run(): Promise<void> {
    const { flags, args } = await this.parse(Set);
    const { shared, logger, signal } = this;
    const request = readSetRequest(args.prefix, flags);
    using target = await changeMap({
      shared,
      logger,
      signal,
      tcBpfMnt: this.foreign('TC_BPF_MNT'),
      agentSocket: this.foreign('CILIUM_SOCK'),
      soleWriter: flags['sole-writer'],
      dryRun: flags['dry-run'],
    });
    const options = {
      dryRun: flags['dry-run'],
      allowGap: flags['allow-gap'],
      overrideOwner: flags['override-owner'],
      signal,
    };
    const model =
      'file' in request ? await runPutBack(target, request.file, options) : await runSet(target, request, options);
    await this.sink.report(planView('set'), model);
    if (!model.complete) throw new IncompleteError('Cannot put everything back: somebody wrote some of it meanwhile');
  }
}
