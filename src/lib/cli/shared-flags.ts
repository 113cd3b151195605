/** The flags that every command has. */
import * as Flags from '@oclif/core/flags';
import type { OutputFormat } from '../output/format.ts';
import { commandFlags } from './define.ts';
import { LOG_FORMATS, LOG_LEVELS } from './log.ts';

const helpGroup = 'GLOBAL';

export interface SharedFlagOptions {
  /** What the command can print; the first is the default. */
  readonly outputs: readonly OutputFormat[];
}

/** `static override baseFlags = sharedFlags({ outputs: ['table', 'json'] })`. */
export function sharedFlags({ outputs }: SharedFlagOptions) {
  return commandFlags({
    map: Flags.string({
      char: 'm',
      summary: 'pin on bpffs, id:N, name:NAME or datapath; by default the pin is looked for',
      helpValue: 'MAP',
      helpGroup,
    }),
    bpffs: Flags.string({ summary: 'where the BPF file system is mounted', helpValue: 'DIR', helpGroup }),
    layout: Flags.string({
      summary: 'layout of keys and values, instead of recognising it',
      helpValue: 'NAME',
      helpGroup,
    }),
    'state-dir': Flags.string({
      summary: 'where ipc keeps its state',
      helpValue: 'DIR',
      default: '/var/lib/ipc',
      helpGroup,
    }),
    output: Flags.option({
      options: outputs,
      char: 'o',
      summary: 'format of the result',
      default: outputs[0],
      helpGroup,
    })(),
    json: Flags.boolean({ char: 'j', summary: 'same as -o json; errors and warnings become JSON too', helpGroup }),
    file: Flags.string({
      summary: 'write the result to FILE, complete or not at all',
      helpValue: 'FILE',
      env: '',
      helpGroup,
    }),
    quiet: Flags.boolean({ char: 'q', summary: 'print errors and the result only', helpGroup }),
    verbose: Flags.boolean({ char: 'v', summary: 'print what is done, and stack traces', helpGroup }),
    'log-level': Flags.option({ options: LOG_LEVELS, summary: 'least important line on stderr', helpGroup })(),
    'log-format': Flags.option({ options: LOG_FORMATS, summary: 'form of the lines on stderr', helpGroup })(),
    config: Flags.string({ summary: 'config file instead of /etc/ipc/config.yaml', helpValue: 'FILE', helpGroup }),
  });
}

/** Values of the shared flags after parsing. */
export interface SharedValues {
  readonly map?: string | undefined;
  readonly bpffs?: string | undefined;
  readonly layout?: string | undefined;
  readonly 'state-dir': string;
  readonly output: OutputFormat;
  readonly json: boolean;
  readonly file?: string | undefined;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly 'log-level'?: string | undefined;
  readonly 'log-format'?: string | undefined;
  readonly config?: string | undefined;
}
