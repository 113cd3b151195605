import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../lib/cli/base-command.ts';
import { commandArgs, commandFlags } from '../lib/cli/define.ts';
import { diffInputs, requireAlone } from '../lib/cli/diff-inputs.ts';
import { compareCheck, foretellCheck, runDiffCommand } from '../lib/cli/diff-run.ts';
import { prefixFlag } from '../lib/cli/flags.ts';
import { gateFlags } from '../lib/cli/gate.ts';
import { ignoreFlag } from '../lib/cli/ignore-flag.ts';
import { sharedFlags } from '../lib/cli/shared-flags.ts';
import { allocatorStateFlag } from '../lib/cli/use-labels.ts';
import { CHANGE_CLASSES } from '../lib/diff/change-class.ts';

const SCOPES = ['reserved', 'global', 'local', 'remote-node', 'unknown'] as const;

export default class Diff extends BaseCommand {
  static override summary = 'compare two snapshots, two maps, or one with the other';
  static override description =
    'A and B are snapshots or maps (a pin, id:N, name:NAME, datapath); without B it is the map of this node. What is found\n' +
    'on a live map counts only when a second reading finds it too. A world split by address family, flags that only one of\n' +
    'the layouts has, an encryption key that was replaced everywhere and a map that was replaced are named in one line and\n' +
    'are no findings. Exit status 10: there are findings.';
  static override examples = [
    {
      description: 'after an upgrade: wait until all is as before, and see that it stays so past the grace period',
      command: '<%= config.bin %> diff before.ndjson.gz --scope local --wait 5m --hold 12m',
    },
    {
      description: 'whether two nodes see the same cluster',
      command: '<%= config.bin %> diff n1.ndjson.gz n2.ndjson.gz --by labels',
    },
  ];
  static override baseFlags = sharedFlags({ outputs: ['table', 'json'] });
  static override args = commandArgs({
    a: Args.string({ required: true, description: 'snapshot or map from before, - for standard input' }),
    b: Args.string({ description: 'snapshot or map from after; by default the map of this node' }),
  });
  static override flags = commandFlags({
    by: Flags.option({
      options: ['numbers', 'labels'] as const,
      default: 'numbers' as const,
      summary: 'numbers: two moments of one node; labels: what two nodes see',
    })(),
    scope: Flags.option({ options: SCOPES, multiple: true, summary: 'scope of the identity', helpGroup: 'FILTER' })(),
    within: prefixFlag({ multiple: true, summary: 'entries inside of PREFIX', helpGroup: 'FILTER' }),
    ignore: ignoreFlag({
      multiple: true,
      summary: 'a class of changes, a prefix with all inside of it, or an identity',
      helpGroup: 'FILTER',
    }),
    'as-agent': Flags.boolean({
      summary: 'of A alone: what an agent will renumber or lose at its next start',
      exclusive: ['by', 'wait', 'hold'],
    }),
    html: Flags.string({ summary: 'write the report as one page to FILE too', helpValue: 'FILE', env: '' }),
    'allocator-state': allocatorStateFlag,
    ...gateFlags(CHANGE_CLASSES, CHANGE_CLASSES),
  });

  async run(): Promise<void> {
    const { flags, args } = await this.parse(Diff);
    const { logger, signal, shared, runtime, sink } = this;
    const context = { shared, runtime, logger, signal, tcBpfMnt: this.foreign('TC_BPF_MNT') };
    const inputs = { ...context, flags: { ...flags, labels: true } };
    if (flags['as-agent']) requireAlone(args.b);
    const check = flags['as-agent']
      ? foretellCheck(args.a, inputs)
      : compareCheck(diffInputs([args.a, args.b], inputs), flags.by === 'labels', signal);
    await runDiffCommand(check, { ...context, flags, sink });
  }
}
