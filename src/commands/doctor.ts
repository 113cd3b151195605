import * as Flags from '@oclif/core/flags';
import { parseMapRef } from '../lib/bpf/map-ref.ts';
import { isAtLeast } from '../lib/check/finding.ts';
import { BaseCommand } from '../lib/cli/base-command.ts';
import { commandFlags } from '../lib/cli/define.ts';
import { gateError, leastSeverity, passGate, severityGateFlags } from '../lib/cli/gate.ts';
import { sharedFlags } from '../lib/cli/shared-flags.ts';
import { type Examination, examineNode } from '../lib/doctor/examine-node.ts';
import { DEFAULT_CHECKPOINT_PATH } from '../lib/identity/checkpoint.ts';
import { LinuxKernel } from '../lib/native/linux-kernel.ts';
import { doctorView } from '../lib/output/doctor-view.ts';

export default class Doctor extends BaseCommand {
  static override summary = 'say what is wrong with the ipcache of this node';
  static override description =
    'Looks at bpf filesystems, every map of the shape of an ipcache with its pins, programs and processes, leftovers, what\n' +
    'this user may do, what the kernel can do, the allocator checkpoint, the agent, whose map it is, and the state\n' +
    'directory. Changes nothing. Exit status 10: something at or above --fail-on was found.';
  static override examples = [
    { description: 'everything that is known about this node', command: '<%= config.bin %> doctor' },
    {
      description: 'after an upgrade: wait until it is well, and see that it stays so',
      command: '<%= config.bin %> doctor --fail-on medium --wait 5m --hold 11m --json',
    },
  ];
  static override baseFlags = sharedFlags({ outputs: ['table', 'json'] });
  static override flags = commandFlags({
    'allocator-state': Flags.string({
      summary: "the agent's allocator checkpoint",
      helpValue: 'FILE',
      default: DEFAULT_CHECKPOINT_PATH,
    }),
    ...severityGateFlags(),
  });

  async run(): Promise<void> {
    const { flags } = await this.parse(Doctor);
    const { shared, signal, logger, runtime } = this;
    const kernel = new LinuxKernel();
    const least = leastSeverity(flags['fail-on']);
    const result = await passGate<Examination>({
      check: () =>
        examineNode({
          kernel,
          ref: shared.map === undefined ? undefined : parseMapRef(shared.map),
          bpffs: shared.bpffs,
          tcBpfMnt: this.foreign('TC_BPF_MNT'),
          agentSocket: this.foreign('CILIUM_SOCK'),
          stateDirectory: shared['state-dir'],
          allocatorState: flags['allocator-state'],
          signal,
          now: runtime.now(),
        }),
      failures: ({ findings }) => findings.filter(({ severity }) => isAtLeast(severity, least)).length,
      waitMs: flags.wait,
      holdMs: flags.hold,
      signal,
      logger,
      now: () => performance.now(),
    });
    await this.sink.report(doctorView, result.model);
    if (result.failures > 0) throw gateError('the check of this node', result.failures);
  }
}
