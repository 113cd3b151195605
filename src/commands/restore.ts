import { BaseCommand } from '../lib/cli/base-command.ts';
import { commandFlags } from '../lib/cli/define.ts';
import { readStdinBytes } from '../lib/cli/read-stdin.ts';
import { checkRestoreFlags, restoreFlags } from '../lib/cli/restore-flags.ts';
import { RestoreRun } from '../lib/cli/restore-run.ts';
import { sharedFlags } from '../lib/cli/shared-flags.ts';
import { restoreView } from '../lib/output/restore-view.ts';

export default class Restore extends BaseCommand {
  static override summary = 'keep the numbers of local identities over a restart, an upgrade or a move to another map';
  static override description =
    'Reads the outgoing map (or a snapshot) and the allocator checkpoint, withholds every local number in sight, and\n' +
    'adds what the target lacks under the number it had. Nothing that is there is renumbered or deleted. What it keeps is\n' +
    'remembered in the state directory until ipc release. Exit status 7: an entry did not get its number; the report says why.';
  static override examples = [
    {
      description: 'remember every number of the map, and say what is known of it',
      command: '<%= config.bin %> restore --map /sys/fs/bpf/tc/globals/cilium_ipcache_v2',
    },
    {
      description: 'carry the map of Cilium 1.17 over to that of 1.18',
      command:
        '<%= config.bin %> restore --map /sys/fs/bpf/tc/globals/cilium_ipcache --to /sys/fs/bpf/tc/globals/cilium_ipcache_v2 --all',
    },
    {
      description: 'after a reboot, from the snapshot that was taken before it',
      command: '<%= config.bin %> restore --from /var/lib/ipc/before.ndjson --dry-run',
    },
  ];
  static override baseFlags = sharedFlags({ outputs: ['table', 'json'] });
  static override flags = commandFlags(restoreFlags);

  async run(): Promise<void> {
    const { flags } = await this.parse(Restore);
    checkRestoreFlags(flags);
    const { shared, logger, signal, runtime } = this;
    const run = new RestoreRun({
      flags,
      shared,
      logger,
      signal,
      tcBpfMnt: this.foreign('TC_BPF_MNT'),
      agentSocket: this.foreign('CILIUM_SOCK'),
      readStdin: () => readStdinBytes(runtime.stdin, 'a snapshot'),
      now: () => runtime.now(),
    });
    const { model, failure } = await run.run();
    await this.sink.report(restoreView, model);
    if (failure !== undefined) throw failure;
  }
}
