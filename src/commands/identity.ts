import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../lib/cli/base-command.ts';
import { commandArgs, commandFlags } from '../lib/cli/define.ts';
import { durationFlag } from '../lib/cli/flags.ts';
import { sharedFlags } from '../lib/cli/shared-flags.ts';
import { IdentitySources } from '../lib/cli/use-identities.ts';
import { labelFlags } from '../lib/cli/use-labels.ts';
import { parseIdentityQuery } from '../lib/inventory/identity-query.ts';
import { takeInventory } from '../lib/inventory/take-inventory.ts';
import { identityView } from '../lib/output/identity-view.ts';

export default class Identity extends BaseCommand {
  static override summary = 'which labels a number has, which numbers a label, and what uses them';
  static override description =
    'Words are numbers (16777217), names of fixed numbers (world, kube-dns) or labels (k8s:app=web, cidr:10.0.0.0/8,\n' +
    'app=web for any source, k8s:app for any value); labels must all be in one identity. Without words all numbers of\n' +
    'the map and the checkpoints are listed. Exit status 12: a number or label that is nowhere.';
  static override examples = [
    {
      description: 'who is 16777217, where does it stand, and whose policy would a new number break',
      command: '<%= config.bin %> identity 16777217 --policy',
    },
    {
      description: 'local numbers in the map that no checkpoint knows, for a script',
      command: '<%= config.bin %> identity --orphans --json',
    },
  ];
  static override strict = false;
  static override baseFlags = sharedFlags({ outputs: ['table', 'json', 'ndjson', 'csv'] });
  static override flags = commandFlags({
    policy: Flags.boolean({ summary: 'list the entries of policy maps that have the number' }),
    orphans: Flags.boolean({
      summary: 'local numbers of the map that no checkpoint knows, in two readings',
      exclusive: ['unused'],
    }),
    unused: Flags.boolean({ summary: 'numbers of the checkpoints that are not in the map' }),
    confirm: durationFlag({
      summary: 'with --orphans: time between the readings',
      default: 15_000,
      defaultHelp: async () => '15s',
    }),
    'allocator-state': labelFlags['allocator-state'],
  });
  static override args = commandArgs({
    words: Args.string({ description: 'numbers, names and labels; all identities without any' }),
  });

  async run(): Promise<void> {
    const { flags, argv } = await this.parse(Identity);
    const query = parseIdentityQuery(argv.map(String));
    const { orphans, unused } = flags;
    const sources = new IdentitySources({
      shared: this.shared,
      allocatorState: flags['allocator-state'],
      tcBpfMnt: this.foreign('TC_BPF_MNT'),
      logger: this.logger,
      signal: this.signal,
      strict: orphans || unused || query.selectors.length > 0,
      orphans,
      confirmMs: flags.confirm,
    });
    const only = orphans ? 'orphans' : unused ? 'unused' : undefined;
    const { rows, withPrefixes, failures } = await takeInventory({ ...query, only, policy: flags.policy }, sources);
    const view = identityView({ empty: `no ${only ?? 'such'} identities`, withPrefixes, withPolicy: flags.policy });
    await this.sink.list(view, rows);
    if (failures.length > 0) throw new AggregateError(failures);
  }
}
