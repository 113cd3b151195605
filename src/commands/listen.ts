import { BaseCommand } from '../lib/cli/base-command.ts';
import { commandFlags } from '../lib/cli/define.ts';
import { failuresOf } from '../lib/cli/failure.ts';
import { listenFlags } from '../lib/cli/listen-flags.ts';
import { ListenService } from '../lib/cli/listen-service.ts';
import { sharedFlags } from '../lib/cli/shared-flags.ts';
import { listenView } from '../lib/output/listen-view.ts';

export default class Listen extends BaseCommand {
  static override readonly endsOnSignal = true;
  static override summary = 'feed a map of its own from sources, and keep its numbers';
  static override description =
    'Runs in the foreground until SIGTERM or SIGINT: sources → cache → map. Takes the lock, restores the numbers of the map\n' +
    'and of the last run, opens or makes the map, and follows its sources; restored numbers that no source has claimed are\n' +
    'released when the grace period is over, which begins when all sources are complete. On the map of an agent it\n' +
    'refuses (13). SIGHUP reads the log level again from the config file.';
  static override examples = [
    {
      description: 'a map for external workloads, fed through a socket',
      command:
        '<%= config.bin %> listen --map /sys/fs/bpf/tc/globals/vm_ipcache --source unix:/run/vms/events.sock --underlay ipv4 --node-ipv4 192.0.2.10',
    },
    {
      description: 'from a file that others append to, with metrics',
      command:
        '<%= config.bin %> listen --map /sys/fs/bpf/tc/globals/vm_ipcache --source ndjson:/var/lib/vms/events.ndjson --underlay none --metrics 127.0.0.1:9099',
    },
  ];
  static override baseFlags = sharedFlags({ outputs: ['table', 'json'] });
  static override flags = commandFlags(listenFlags);

  async run(): Promise<void> {
    const { flags } = await this.parse(Listen);
    const { shared, runtime, logger, signal } = this;
    const service = new ListenService({
      flags,
      shared,
      runtime,
      logger,
      signal,
      version: this.config.version,
      tcBpfMnt: this.foreign('TC_BPF_MNT'),
      agentSocket: this.foreign('CILIUM_SOCK'),
      notifySocket: this.foreign('NOTIFY_SOCKET'),
      watchdogUsec: this.foreign('WATCHDOG_USEC'),
      stdout: () => this.out,
      rereadLogLevel: () => this.reread(),
    });
    const summary = await service.run();
    if (!service.usesStdout) await this.sink.report(listenView, summary);
  }

  private reread(): void {
    this.rereadLogValues().then(
      () => this.logger.info(`log level is ${this.logger.level}`),
      (error: unknown) => this.logger.failure(failuresOf(error)[0] ?? raise(error)),
    );
  }
}

function raise(error: unknown): never {
  throw error;
}
