import * as Flags from '@oclif/core/flags';
import { fileArg } from '../lib/cli/args.ts';
import { BaseCommand } from '../lib/cli/base-command.ts';
import { commandArgs, commandFlags } from '../lib/cli/define.ts';
import { countFlag } from '../lib/cli/flags.ts';
import { sharedFlags } from '../lib/cli/shared-flags.ts';
import { SnapshotRun } from '../lib/cli/snapshot-run.ts';
import { chooseTarget } from '../lib/cli/snapshot-target.ts';
import { clusterNameFlag } from '../lib/cli/take-live.ts';
import { labelFlags } from '../lib/cli/use-labels.ts';
import { snapshotView } from '../lib/output/snapshot-view.ts';

export default class Snapshot extends BaseCommand {
  static override summary = 'write the map with its labels to a file, to compare or to restore from';
  static override description =
    'A snapshot holds everything that is needed to restore elsewhere or to diff: header, identities with labels, sorted\n' +
    'entries and an end line with their sum. Exit status 7: the map changed so much that three walks did not cover it;\n' +
    '13: it would replace a snapshot that has far more.';
  static override examples = [
    {
      description: 'before an upgrade, with the labels of the agent',
      command: '<%= config.bin %> snapshot before.ndjson.gz',
    },
    {
      description: 'every hour from a timer, a day of them',
      command: '<%= config.bin %> snapshot --keep 24 /var/lib/ipc/snapshots',
    },
    {
      description: 'for a report to others',
      command: '<%= config.bin %> snapshot --redact shared.ndjson.gz',
    },
  ];
  static override baseFlags = sharedFlags({ outputs: ['table', 'json'] });
  static override args = commandArgs({
    file: fileArg({ description: 'where to write; - or a pipe: standard output; compressed when it ends in .gz' }),
  });
  static override flags = commandFlags({
    keep: countFlag({ summary: 'FILE is a directory: write a new snapshot into it and keep the newest N' }),
    force: Flags.boolean({ summary: 'replace a snapshot although the new one has far less' }),
    from: Flags.string({ summary: 'convert another snapshot instead of reading the map', helpValue: 'FILE', env: '' }),
    redact: Flags.boolean({
      summary: 'replace addresses, label values and names, with the key of the state directory',
    }),
    'redact-key': Flags.string({ summary: 'as --redact, with the key in FILE', helpValue: 'FILE' }),
    'cluster-name': clusterNameFlag,
    'dry-run': Flags.boolean({ char: 'n', summary: 'report only, write nothing' }),
    ...labelFlags,
  });

  async run(): Promise<void> {
    const { flags, args } = await this.parse(Snapshot);
    const { logger, signal, shared, runtime } = this;
    const terminal = runtime.stdoutIsTerminal && shared.file === undefined;
    const target = chooseTarget({ file: args.file, keep: flags.keep, terminal });
    const tcBpfMnt = this.foreign('TC_BPF_MNT');
    const run = new SnapshotRun({ flags, shared, runtime, logger, signal, tcBpfMnt });
    if (target.kind === 'stdout') return run.print(this.out);
    const { model, failure } = await run.store(target);
    await this.sink.report(snapshotView, model);
    if (failure !== undefined) throw failure;
  }
}
