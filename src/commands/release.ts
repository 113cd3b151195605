import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../lib/cli/base-command.ts';
import { commandFlags } from '../lib/cli/define.ts';
import { durationFlag } from '../lib/cli/flags.ts';
import { ReleaseRun } from '../lib/cli/release-run.ts';
import { sharedFlags } from '../lib/cli/shared-flags.ts';
import { soleWriterFlag } from '../lib/cli/use-owner.ts';
import { releaseView } from '../lib/output/release-view.ts';

export default class Release extends BaseCommand {
  static override summary = 'end the reservations of the last restore';
  static override description =
    'Once the grace period is over, numbers that only the restore held become free. Prefixes that a source of --claims has\n' +
    'stay as they are; of the others the entries are deleted first. Without a source of claims nothing that is in the map\n' +
    'is deleted. Ingress addresses are never released. Before its time it prints the plan and changes nothing.';
  static override examples = [
    { description: 'what will go, what stays and by whom, and when', command: '<%= config.bin %> release --dry-run' },
    {
      description: 'wait for the end of the grace period, then keep what a file of events claims',
      command: '<%= config.bin %> release --wait --claims ndjson:/run/ipc/claims.ndjson',
    },
  ];
  static override baseFlags = sharedFlags({ outputs: ['table', 'json'] });
  static override flags = commandFlags({
    claims: Flags.string({
      multiple: true,
      summary: 'source that says which prefixes are wanted (ndjson:, agent, listen, snapshot: …)',
      helpValue: 'SOURCE',
    }),
    'grace-period': durationFlag({ summary: 'how long after the restore (default: 30s, 10m with a kvstore source)' }),
    wait: Flags.boolean({ summary: 'wait for the end of the grace period' }),
    now: Flags.boolean({ summary: 'do not wait for it' }),
    timeout: durationFlag({
      summary: 'how long a source may take to be complete',
      default: 30_000,
      defaultHelp: async () => '30s',
    }),
    'dry-run': Flags.boolean({ char: 'n', summary: 'show the plan and change nothing' }),
    'sole-writer': soleWriterFlag(),
  });

  async run(): Promise<void> {
    const { flags } = await this.parse(Release);
    const { shared, logger, signal, runtime } = this;
    const run = new ReleaseRun({
      shared,
      logger,
      signal,
      tcBpfMnt: this.foreign('TC_BPF_MNT'),
      agentSocket: this.foreign('CILIUM_SOCK'),
      soleWriter: flags['sole-writer'],
      dryRun: flags['dry-run'],
      graceMs: flags['grace-period'],
      wait: flags.wait,
      releaseNow: flags.now,
      claims: flags.claims ?? [],
      timeoutMs: flags.timeout,
      stdin: () => runtime.stdin as AsyncIterable<Uint8Array>,
      uid: process.getuid?.() ?? 0,
      runtime,
    });
    await this.sink.report(releaseView, await run.run());
  }
}
