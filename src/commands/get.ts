import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../lib/cli/base-command.ts';
import { commandArgs, commandFlags } from '../lib/cli/define.ts';
import { assertAnswered, getAnswer, readDatapath } from '../lib/cli/get-answers.ts';
import { answerLines } from '../lib/cli/get-lines.ts';
import { askWhy, checkWhyFlags, whyFlags } from '../lib/cli/get-why.ts';
import { sharedFlags } from '../lib/cli/shared-flags.ts';
import { useMap } from '../lib/cli/use-ipcache.ts';
import { labelFlags, useLabels } from '../lib/cli/use-labels.ts';
import { walkedLayoutOf } from '../lib/ipcache/ipcache-map.ts';
import { parsePrefix } from '../lib/net/prefix.ts';
import { getLineView, getView } from '../lib/output/get-view.ts';

export default class Get extends BaseCommand {
  static override summary = 'show what the kernel finds for an address, and what that hides';
  static override description =
    'The kernel is asked as the datapath asks it: by longest match, without reading the whole map. The chain lists every\n' +
    'entry that covers the address, narrowest first, each with the one that would answer if it were not there.\n' +
    'With - addresses are read from standard input, one a line, and answered one a line. Exit status 12: nothing matches.';
  static override examples = [
    { description: 'what does the datapath believe about this address', command: '<%= config.bin %> get 10.1.2.3' },
    {
      description: 'where does it come from, since when, and what was it before',
      command: '<%= config.bin %> get 10.1.2.3 --why --against agent --history /var/lib/ipc/snapshots',
    },
    {
      description: 'is there an entry for exactly this network of cluster 7',
      command: '<%= config.bin %> get --exact 10.1.0.0/16@7',
    },
  ];
  static override baseFlags = sharedFlags({ outputs: ['table', 'json', 'ndjson'] });
  static override flags = commandFlags({
    exact: Flags.boolean({ summary: 'match the entry of exactly this prefix only' }),
    ...whyFlags,
    ...labelFlags,
  });
  static override args = commandArgs({
    prefix: Args.string({ required: true, description: 'ADDR, ADDR/LEN, either with @CLUSTER, or -' }),
  });

  async run(): Promise<void> {
    const { flags, args } = await this.parse(Get);
    const { logger, signal, shared, runtime } = this;
    const prefix = args.prefix === '-' ? undefined : parsePrefix(args.prefix);
    checkWhyFlags(flags, { many: prefix === undefined, sources: this.valueSources });
    using opened = useMap({ shared, tcBpfMnt: this.foreign('TC_BPF_MNT'), logger });
    const { map } = opened;
    const needsLayout = prefix === undefined || prefix.clusterId !== 0;
    const layoutChoice = opened.layoutChoice ?? (needsLayout ? await walkedLayoutOf(map, signal) : undefined);
    const labelsFor = (ids?: readonly number[]) => useLabels({ flags, logger, ids });
    const options = { map, layoutChoice, exact: flags.exact, signal };
    const datapath = readDatapath(map);
    if (prefix === undefined) {
      const resolver = labelsFor();
      const lines = answerLines(runtime.stdin, datapath, { ...options, labelsFor: () => resolver });
      await this.sink.list(getLineView, lines);
      lines.assertAllFound();
      return;
    }
    const model = await getAnswer(prefix, datapath, { ...options, labelsFor });
    const asked = { query: prefix, match: model.match, pin: map.path, agentSocket: this.foreign('CILIUM_SOCK') };
    const answer = await askWhy({ flags, ...asked, logger, signal });
    await this.sink.report(getView, { ...model, why: answer?.why });
    assertAnswered(model, flags.exact, answer?.failures);
  }
}
