import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../lib/cli/base-command.ts';
import { changeMap } from '../lib/cli/change-map.ts';
import { DEFAULT_CONTROL_SOCKET } from '../lib/cli/control-socket.ts';
import { commandFlags, EMPTY_IS_NONE } from '../lib/cli/define.ts';
import { durationFlag } from '../lib/cli/flags.ts';
import { limitFlag, nodeAddressFlag, rateFlag } from '../lib/cli/gc-flags.ts';
import { collectByListen } from '../lib/cli/gc-listen.ts';
import { GcRun } from '../lib/cli/gc-run.ts';
import { Progress } from '../lib/cli/progress.ts';
import { sharedFlags } from '../lib/cli/shared-flags.ts';
import { sourceSockets } from '../lib/cli/source-sockets.ts';
import { chooseDesired, openDesired } from '../lib/cli/use-desired.ts';
import { soleWriterFlag } from '../lib/cli/use-owner.ts';
import { DEFAULT_CHECKPOINT_PATH } from '../lib/identity/checkpoint.ts';
import { readKnownNumbers } from '../lib/inventory/known-numbers.ts';
import { planView } from '../lib/output/plan-view.ts';

export default class Gc extends BaseCommand {
  static override summary = 'delete what the desired state has not';
  static override description =
    'The map is walked, then the desired state is read twice, --confirm apart: an entry goes when it is missing from both\n' +
    'readings and is still as it was walked. After that it is read once more, and what it has again is put back. Never\n' +
    'touched: /0, this host, ingress, other clusters, and kinds of entries that the desired state has none of.\n' +
    'What goes is kept in a backup; the report has the command that takes it back.\n' +
    'Without --against a running ipc listen is asked; on its own map it does the work itself, with these limits. On the\n' +
    'map of an agent only --against agent deletes.';
  static override examples = [
    {
      description: 'what would go, compared with a snapshot of yesterday',
      command: '<%= config.bin %> gc --against snapshot:/var/backups/ipcache.ndjson.gz --dry-run',
    },
    {
      description: 'beside a live agent: what it does not have any more',
      command: '<%= config.bin %> gc --against agent --max-delete 5%',
    },
    {
      description: 'a node that will not come back: its pods and its own address',
      command: '<%= config.bin %> gc --tunnel 192.0.2.29 --assume-gone',
    },
  ];
  static override baseFlags = sharedFlags({ outputs: ['table', 'json'] });
  static override flags = commandFlags({
    against: Flags.string({
      summary:
        'source that has the desired state: agent, listen, snapshot:FILE, ndjson:FILE … (default: the running ipc listen)',
      helpValue: 'SOURCE',
    }),
    socket: Flags.string({
      ...EMPTY_IS_NONE,
      summary: 'control socket of the running ipc listen; empty for none',
      helpValue: 'PATH',
      default: DEFAULT_CONTROL_SOCKET,
    }),
    orphans: Flags.boolean({ summary: 'delete local identities that no checkpoint knows' }),
    'allocator-state': Flags.string({
      summary: `checkpoint that --orphans compares with (default: ${DEFAULT_CHECKPOINT_PATH})`,
      helpValue: 'FILE',
    }),
    tunnel: nodeAddressFlag({ multiple: true, summary: 'only entries of the node with this address' }),
    'assume-gone': Flags.boolean({ summary: 'with --tunnel: the node is gone, no source is asked' }),
    'max-delete': limitFlag({
      summary: 'the most that may go within an hour: share of what is judged, or number of entries',
      default: { percent: 20 },
      defaultHelp: async () => '20%',
    }),
    confirm: durationFlag({
      summary: 'time between the two readings',
      default: 15_000,
      defaultHelp: async () => '15s',
    }),
    timeout: durationFlag({
      summary: 'how long a source may take to be complete',
      default: 30_000,
      defaultHelp: async () => '30s',
    }),
    rate: rateFlag({ summary: 'deletes a second at most' }),
    'all-items': Flags.boolean({ summary: 'list also what a rule keeps, and every delete' }),
    'dry-run': Flags.boolean({ char: 'n', summary: 'read twice, say what would go, delete nothing' }),
    'sole-writer': soleWriterFlag(),
  });

  async run(): Promise<void> {
    const { flags } = await this.parse(Gc);
    const { shared, logger, signal, runtime } = this;
    const tunnels = flags.tunnel ?? [];
    const choice = chooseDesired({ ...flags, tunnel: tunnels });
    const tcBpfMnt = this.foreign('TC_BPF_MNT');
    const agentSocket = this.foreign('CILIUM_SOCK');
    const sockets = { ...sourceSockets(agentSocket), listen: flags.socket };
    const common = {
      tunnels,
      limit: flags['max-delete'],
      confirmMs: flags.confirm,
      rate: flags.rate,
      dryRun: flags['dry-run'],
      allItems: flags['all-items'],
      signal,
      logger,
    };
    const byListen = await collectByListen({
      ...common,
      choice,
      shared,
      tcBpfMnt,
      agentSocket,
      socket: sockets.listen,
      soleWriter: flags['sole-writer'],
      timeoutMs: flags.timeout,
    });
    if (byListen !== undefined) {
      await this.sink.report(planView('gc'), byListen);
      return;
    }
    using target = await changeMap({
      shared,
      logger,
      signal,
      tcBpfMnt,
      agentSocket,
      soleWriter: flags['sole-writer'],
      dryRun: flags['dry-run'],
      withState: true,
    });
    target.requireOwner(choice.operation);
    await using desired = openDesired(choice, {
      stdin: () => runtime.stdin as AsyncIterable<Uint8Array>,
      uid: process.getuid?.() ?? 0,
      timeoutMs: flags.timeout,
      signal,
      sockets,
      now: () => runtime.now(),
      pin: target.ipcache.map.path,
      readKnown: async () =>
        readKnownNumbers({
          allocatorState: flags['allocator-state'],
          stateDirectory: shared['state-dir'],
          pin: target.ipcache.map.path,
        }),
    });
    const model = await new GcRun(target, {
      ...common,
      desired: desired.states,
      undo: { shared, soleWriter: flags['sole-writer'] },
      now: () => runtime.now(),
      progress: new Progress({ runtime, logger, unit: 'entries deleted' }),
    }).run();
    await this.sink.report(planView('gc'), model);
  }
}
