import { prefixArg } from '../lib/cli/args.ts';
import { BaseCommand } from '../lib/cli/base-command.ts';
import { commandArgs, commandFlags } from '../lib/cli/define.ts';
import { endpointOf } from '../lib/cli/endpoint-flags.ts';
import { encryptKeyFlag, flagBitsFlag, identityFlag, tunnelEndpointFlag } from '../lib/cli/flags.ts';
import { sharedFlags } from '../lib/cli/shared-flags.ts';
import { bpftoolMap } from '../lib/ipcache/bpftool-map.ts';
import { encodeEntry } from '../lib/ipcache/encode-entry.ts';
import { layoutNamed } from '../lib/ipcache/layout.ts';
import { parseLayoutName } from '../lib/ipcache/parse-layout-name.ts';
import { encodeView } from '../lib/output/encode-view.ts';

export default class Encode extends BaseCommand {
  static override summary = 'print the bytes of an entry';
  static override description =
    'Nothing is read or written: the bytes are those that ipc set would write, in the layout of --layout (v2 when not\n' +
    'given), also as a bpftool command. The flags of the tunnel follow from --tunnel.';
  static override examples = [
    {
      description: 'a CIDR with a local identity',
      command: '<%= config.bin %> encode 192.0.2.0/24 --identity 16777217',
    },
    {
      description: 'a pod behind a tunnel, as Cilium 1.16 stores it',
      command: '<%= config.bin %> encode 10.0.1.7 --identity 41234 --tunnel 192.0.2.10 --layout 1.16 --json',
    },
  ];
  static override baseFlags = sharedFlags({ outputs: ['table', 'json'] });
  static override flags = commandFlags({
    identity: identityFlag({ required: true, summary: 'number, or name of a reserved identity' }),
    tunnel: tunnelEndpointFlag({ summary: 'address of the node that the prefix is reached through' }),
    'encrypt-key': encryptKeyFlag({ summary: 'IPsec key, 0 for none', default: 0 }),
    flag: flagBitsFlag({
      multiple: true,
      aliases: ['flags'],
      summary: 'flag to set, by name or as a number such as 0x80',
    }),
  });
  static override args = commandArgs({
    prefix: prefixArg({ required: true, description: 'ADDR or ADDR/LEN, with @CLUSTER' }),
  });

  async run(): Promise<void> {
    const { flags, args } = await this.parse(Encode);
    const layout = layoutNamed(parseLayoutName(this.shared.layout ?? 'v2'));
    const encoded = encodeEntry({ layout, candidates: [layout] }, args.prefix, endpointOf(flags.identity, flags));
    await this.sink.report(encodeView, { ...encoded, layout, bpftoolMap: bpftoolMap(this.shared.map, layout) });
  }
}
