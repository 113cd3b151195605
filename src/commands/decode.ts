import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../lib/cli/base-command.ts';
import { commandArgs, commandFlags } from '../lib/cli/define.ts';
import { readStdin } from '../lib/cli/read-stdin.ts';
import { sharedFlags } from '../lib/cli/shared-flags.ts';
import { parseLayoutName } from '../lib/ipcache/parse-layout-name.ts';
import { decodePasted } from '../lib/ipcache/pasted/decode-pasted.ts';
import type { PasteOrigin } from '../lib/ipcache/pasted/pasted-entry.ts';
import { readPasted } from '../lib/ipcache/pasted/read-pasted.ts';
import { decodeView } from '../lib/output/decode-view.ts';

export default class Decode extends BaseCommand {
  static override summary = 'show what the bytes of a key and a value mean';
  static override description =
    'Takes hexadecimal bytes in any grouping, what bpftool map dump and lookup print with or without -j, and entries that\n' +
    'ipc printed with --raw; from the arguments, or from standard input. Without words before them, 24 bytes are a key, 8\n' +
    'or 12 a value, and 32, 36 or 48 a key with its value.';
  static override examples = [
    {
      description: 'a key alone',
      command: '<%= config.bin %> decode 38000000 01000001 0a000000 00000000 00000000 00000000',
    },
    {
      description: 'a whole map that bpftool dumped on another machine',
      command: 'bpftool -j map dump name cilium_ipcache_ | <%= config.bin %> decode --json',
    },
  ];
  static override strict = false;
  static override baseFlags = sharedFlags({ outputs: ['table', 'json', 'ndjson', 'csv'] });
  static override flags = commandFlags({
    key: Flags.string({ summary: 'bytes of a key', helpValue: 'HEX', env: '' }),
    value: Flags.string({ summary: 'bytes of a value', helpValue: 'HEX', env: '' }),
  });
  static override args = commandArgs({
    bytes: Args.string({ description: 'bytes of keys and values; - or nothing: standard input' }),
  });

  async run(): Promise<void> {
    const { flags, argv } = await this.parse(Decode);
    const { text, origin } = await this.#input(flags, argv.map(String));
    const layout = this.shared.layout === undefined ? undefined : parseLayoutName(this.shared.layout);
    const { choice, entries } = decodePasted(readPasted(text, origin), origin, layout);
    if (choice.by === 'assumed') {
      this.logger.info(`layout ${choice.layout.name} assumed: the bytes do not tell; --layout reads them otherwise`);
    }
    if (entries.some(({ bytes, warnings }) => bytes.guessed && warnings.length > 0)) {
      this.logger.warn('24 bytes alone were read as a key; give a value as --value HEX');
    }
    await this.sink.list(decodeView, entries);
  }

  async #input(
    flags: { key?: string | undefined; value?: string | undefined },
    words: readonly string[],
  ): Promise<{ text: string; origin: PasteOrigin }> {
    const named = [flags.key && `key ${flags.key}`, flags.value && `value ${flags.value}`].filter((part) => part);
    const given = [...named, ...words].join(' ');
    if (given !== '' && given !== '-') return { text: given, origin: { from: 'argument' } };
    return {
      text: await readStdin(this.runtime.stdin, 'bytes to decode'),
      origin: { from: 'file', file: 'standard input' },
    };
  }
}
