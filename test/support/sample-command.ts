/** A small command for tests of what all commands share. */
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../../src/lib/cli/base-command.ts';
import { commandArgs, commandFlags } from '../../src/lib/cli/define.ts';
import { parseDuration } from '../../src/lib/cli/duration.ts';
import { sharedFlags } from '../../src/lib/cli/shared-flags.ts';
import { formatPrefix, parsePrefix } from '../../src/lib/net/prefix.ts';
import type { ReportView } from '../../src/lib/output/view.ts';

interface Model {
  readonly [field: string]: unknown;
}

const view: ReportView<Model> = {
  kind: 'sample',
  json: (model) => model,
  text: (model) => Object.entries(model).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
};

/** Reports the values of its flags and where they came from. */
export default class Sample extends BaseCommand {
  static override summary = 'reports its flags';
  static override baseFlags = sharedFlags({ outputs: ['table', 'json', 'ndjson'] });
  static override flags = commandFlags({
    within: Flags.custom({ parse: async (text) => parsePrefix(text) })({ multiple: true, summary: 'prefixes' }),
    wait: Flags.custom({ parse: async (text) => parseDuration(text) })({ summary: 'how long' }),
    scope: Flags.option({ options: ['local', 'global'] as const, summary: 'scope' })(),
    limit: Flags.integer({ min: 1, summary: 'how many', exclusive: ['scope'] }),
    count: Flags.boolean({ char: 'c', env: 'IPC_COUNT', summary: 'count only' }),
    force: Flags.boolean({ summary: 'insist' }),
  });
  static override args = commandArgs({ target: Args.string({ description: 'target' }) });

  async run(): Promise<void> {
    const { flags, args } = await this.parse(Sample);
    const { within, wait, scope, limit, count, force } = flags;
    const sources = Object.fromEntries([...this.valueSources].filter(([, source]) => source.from !== 'default'));
    const shared = { map: this.shared.map, stateDir: this.shared['state-dir'], output: this.shared.output };
    await this.sink.report(view, {
      ...shared,
      within: within?.map(formatPrefix),
      waitMs: wait,
      scope,
      limit,
      count,
      force,
      target: args.target,
      sources,
    });
  }
}

/** A command whose `run()` is the given function, for failures and signals. */
export function commandThat(
  act: (tools: { signal(): AbortSignal; warn(message: string): void; print(text: string): void }) => Promise<void>,
  traits: { readonly endsOnSignal?: boolean } = {},
): typeof BaseCommand {
  class Acting extends BaseCommand {
    static override baseFlags = sharedFlags({ outputs: ['table', 'json'] });
    static override readonly endsOnSignal: boolean = traits.endsOnSignal ?? false;

    async run(): Promise<void> {
      await this.parse(Acting);
      await act({
        signal: () => this.signal,
        warn: (message) => this.logger.warn(message),
        print: (text) => this.out.write(Buffer.from(text)),
      });
    }
  }
  return Acting as unknown as typeof BaseCommand;
}
