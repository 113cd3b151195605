import * as Flags from '@oclif/core/flags';
import { prefixArg } from '../lib/cli/args.ts';
import { BaseCommand } from '../lib/cli/base-command.ts';
import { changeMap } from '../lib/cli/change-map.ts';
import { commandArgs, commandFlags } from '../lib/cli/define.ts';
import { runDelete } from '../lib/cli/delete-run.ts';
import { identityFlag } from '../lib/cli/flags.ts';
import { sharedFlags } from '../lib/cli/shared-flags.ts';
import { overrideOwnerFlag, soleWriterFlag } from '../lib/cli/use-owner.ts';
import { planView } from '../lib/output/plan-view.ts';

export default class Delete extends BaseCommand {
  static override summary = 'delete entries by their prefix';
  static override description =
    'Deletes exactly these entries, whatever host bits they are stored with, and says what answers for their addresses\n' +
    'then. All of them are looked at first: if one is missing (12) or has another identity than expected (13), none goes.';
  static override examples = [
    { description: 'the entry of one address', command: '<%= config.bin %> delete 10.0.1.7' },
    {
      description: 'two networks, only if both still have the identity that was seen',
      command: '<%= config.bin %> delete 192.0.2.0/24 198.51.100.0/24 --expect-identity 16777217 --dry-run',
    },
  ];
  static override baseFlags = sharedFlags({ outputs: ['table', 'json'] });
  static override flags = commandFlags({
    'expect-identity': identityFlag({ summary: 'refuse unless every entry has this identity now' }),
    'ignore-not-found': Flags.boolean({ summary: 'pass over what is missing' }),
    'dry-run': Flags.boolean({ char: 'n', summary: 'show what would go and delete nothing' }),
    'override-owner': overrideOwnerFlag(),
    'sole-writer': soleWriterFlag(),
  });
  static override args = commandArgs({
    prefix: prefixArg({ required: true, multiple: true, description: 'ADDR or ADDR/LEN, with @CLUSTER' }),
  });

  async run(): Promise<void> {
    const { flags, args } = await this.parse(Delete);
    const { shared, logger, signal } = this;
    using target = await changeMap({
      shared,
      logger,
      signal,
      tcBpfMnt: this.foreign('TC_BPF_MNT'),
      agentSocket: this.foreign('CILIUM_SOCK'),
      soleWriter: flags['sole-writer'],
      dryRun: flags['dry-run'],
    });
    const { model, failure } = await runDelete(
      target,
      {
        prefixes: args.prefix,
        ignoreNotFound: flags['ignore-not-found'],
        expectIdentity: flags['expect-identity'],
      },
      { dryRun: flags['dry-run'], overrideOwner: flags['override-owner'], signal },
    );
    await this.sink.report(planView('delete'), model);
    if (failure !== undefined) throw failure;
  }
}
