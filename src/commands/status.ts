import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../lib/cli/base-command.ts';
import { DEFAULT_CONTROL_SOCKET } from '../lib/cli/control-socket.ts';
import { commandFlags, EMPTY_IS_NONE } from '../lib/cli/define.ts';
import { durationFlag } from '../lib/cli/flags.ts';
import type { ValueSource } from '../lib/cli/layered-values.ts';
import { sharedFlags } from '../lib/cli/shared-flags.ts';
import { readStatus } from '../lib/cli/status-run.ts';
import { statusView } from '../lib/output/status-view.ts';

export default class Status extends BaseCommand {
  static override summary = 'say what the last restore did, what will be released when, and whether all is ready';
  static override description =
    'Reads the state directory and asks a running ipc listen. Exit status: 0 ready, 10 not ready, 8 the loop does not\n' +
    'answer, 3 there is neither a state nor a loop.';
  static override examples = [
    { description: 'what is remembered, and until when', command: '<%= config.bin %> status' },
    {
      description: 'for a probe: only the exit status counts',
      command: '<%= config.bin %> status --json --timeout 2s',
    },
  ];
  static override baseFlags = sharedFlags({ outputs: ['table', 'json'] });
  static override flags = commandFlags({
    socket: Flags.string({
      ...EMPTY_IS_NONE,
      summary: 'control socket of ipc listen; empty for none',
      helpValue: 'PATH',
      default: DEFAULT_CONTROL_SOCKET,
    }),
    timeout: durationFlag({
      summary: 'how long the loop may take to answer',
      default: 5_000,
      defaultHelp: async () => '5s',
    }),
    'config-sources': Flags.boolean({ summary: 'list every value of a flag and where it comes from' }),
  });

  async run(): Promise<void> {
    const { flags } = await this.parse(Status);
    const { shared, runtime } = this;
    const { model, failure } = await readStatus({
      directory: shared['state-dir'],
      socket: flags.socket,
      timeoutMs: flags.timeout,
      now: runtime.now(),
    });
    const config = flags['config-sources'] ? this.#config({ ...shared, ...flags }) : undefined;
    await this.sink.report(statusView, { ...model, ...(config && { config }) });
    if (failure !== undefined) throw failure;
  }

  #config(values: Readonly<Record<string, unknown>>) {
    const known = new Map(Object.entries(values));
    return [...known]
      .filter(([, value]) => value !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([flag, value]) => ({ flag, value, from: placeOf(this.valueSources.get(flag)) }));
  }
}

function placeOf(source: ValueSource | undefined): string {
  switch (source?.from) {
    case 'flag':
      return 'command line';
    case 'environment':
      return source.variable;
    case 'config':
      return `${source.file}, line ${source.line}`;
    default:
      return 'default';
  }
}
