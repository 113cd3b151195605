import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../lib/cli/base-command.ts';
import { commandFlags } from '../lib/cli/define.ts';
import { assertComplete, countEntries, printEntries } from '../lib/cli/dump-entries.ts';
import { checkDumpFlags, labelFilter, showsLabels } from '../lib/cli/dump-flags.ts';
import { clusterFlag, countFlag, flagBitsFlag, identityFlag, prefixFlag, tunnelFlag } from '../lib/cli/flags.ts';
import { Progress } from '../lib/cli/progress.ts';
import { sharedFlags } from '../lib/cli/shared-flags.ts';
import { useIpcache } from '../lib/cli/use-ipcache.ts';
import { labelFlags, useLabels } from '../lib/cli/use-labels.ts';
import { countView } from '../lib/output/count-view.ts';
import { createEntryFormat } from '../lib/output/dump/create-format.ts';

const SCOPES = ['reserved', 'global', 'local', 'remote-node', 'unknown'] as const;
const FAMILIES = ['ipv4', 'ipv6'] as const;

export default class Dump extends BaseCommand {
  static override summary = 'list the entries of the ipcache map';
  static override description =
    'Entries come in the order of the kernel and are printed as they are read. Kinds of filters are joined by AND, the\n' +
    'values of one filter by OR. Exit status 7: the map changed so much that the walk did not cover it.';
  static override examples = [
    { description: 'everything, for a script', command: '<%= config.bin %> dump --json' },
    {
      description: 'which local identities stand within a network, and with which labels',
      command: '<%= config.bin %> dump --within 10.0.0.0/8 --scope local',
    },
  ];
  static override baseFlags = sharedFlags({ outputs: ['table', 'json', 'ndjson', 'csv', 'cilium', 'bpftool'] });
  static override flags = commandFlags({
    within: prefixFlag({ multiple: true, summary: 'entries inside of PREFIX', helpGroup: 'FILTER' }),
    contains: prefixFlag({ multiple: true, summary: 'entries that cover PREFIX', helpGroup: 'FILTER' }),
    identity: identityFlag({ multiple: true, summary: 'entries with this number or name', helpGroup: 'FILTER' }),
    scope: Flags.option({ options: SCOPES, multiple: true, summary: 'scope of the identity', helpGroup: 'FILTER' })(),
    family: Flags.option({ options: FAMILIES, multiple: true, summary: 'address family', helpGroup: 'FILTER' })(),
    cluster: clusterFlag({ multiple: true, summary: 'cluster ID; 0 is the local one', helpGroup: 'FILTER' }),
    tunnel: tunnelFlag({ multiple: true, summary: 'tunnel endpoint, or none', helpGroup: 'FILTER' }),
    flag: flagBitsFlag({ multiple: true, summary: 'entries with this flag set', helpGroup: 'FILTER' }),
    label: Flags.string({
      multiple: true,
      summary: 'entries whose identity has this label',
      helpValue: 'LABEL',
      helpGroup: 'FILTER',
    }),
    sort: Flags.option({
      options: ['prefix', 'identity'] as const,
      summary: 'order of the rows; needs 60 bytes of memory an entry',
    })(),
    limit: countFlag({ summary: 'stop after N entries' }),
    count: Flags.boolean({ summary: 'print the number of entries only' }),
    raw: Flags.boolean({ summary: 'print the bytes of key and value too' }),
    trailer: Flags.boolean({ summary: 'with -o ndjson: a last line that says whether the walk was complete' }),
    ...labelFlags,
  });

  async run(): Promise<void> {
    const { flags } = await this.parse(Dump);
    const { logger, signal, shared, runtime } = this;
    checkDumpFlags(flags, shared.output);
    using ipcache = await useIpcache({ shared, tcBpfMnt: this.foreign('TC_BPF_MNT'), logger, signal });
    const { map, layout } = ipcache;
    const resolver = showsLabels(flags, shared.output) ? useLabels({ flags, logger }) : undefined;
    const filter = { ...flags, label: labelFilter(flags.label, resolver) };
    const progress = new Progress({ runtime, logger, unit: 'entries', most: map.info.maxEntries });
    const options = { filter, signal, progress, limit: flags.limit };
    if (flags.count) {
      const listing = await countEntries(ipcache, options);
      const shown = { id: map.info.id, pin: map.path, layout: layout.name };
      await this.sink.report(countView, { map: shown, entries: listing.entries, complete: listing.complete });
      assertComplete(ipcache, listing);
      return;
    }
    const { raw, trailer, sort } = flags;
    const writer = this.out;
    const format = createEntryFormat(shared.output, { layout, writer, raw, trailer, labelsOf: resolver?.resolve });
    await printEntries(ipcache, { ...options, format, sort });
  }
}
