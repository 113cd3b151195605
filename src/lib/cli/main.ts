/** The program: finds the command, runs it, and turns every failure into one message and one exit status. */
import { Config } from '@oclif/core/config';
import type { PJSON } from '@oclif/core/interfaces';
import pjson from '../../../package.json' with { type: 'json' };
import { EXIT } from '../errors.ts';
import { StdoutClosed } from '../output/byte-writer.ts';
import { failuresOf } from './failure.ts';
import { commandLine, firstLook } from './first-look.ts';
import { showHelp } from './help.ts';
import { Log } from './log.ts';
import { type CommandRegistry, programPlugin } from './program-plugin.ts';
import { bindRunContext, type RunContext } from './run-context.ts';
import { processRuntime, type Runtime } from './runtime.ts';
import { Interrupted } from './signals.ts';
import { unknownCommand } from './usage-error.ts';

export interface Start {
  /** The folder that holds package.json. */
  readonly root: string;
  readonly commands: CommandRegistry;
  readonly argv: readonly string[];
}

/** Runs the program of the real process; its exit status is set when everything is written. */
export async function start(options: Start): Promise<void> {
  // oclif would look for a colour theme in the user's home at every start.
  process.env.IPC_DISABLE_THEME ??= '1';
  process.exitCode = await runProgram(options, processRuntime());
}

/** @returns the exit status */
export async function runProgram({ root, commands, argv }: Start, runtime: Runtime): Promise<number> {
  const context: RunContext = { runtime, log: new Log(runtime) };
  return reportingFailures(context, async () => {
    firstLook(argv, runtime.env, context.log);
    const program = { root, pjson: pjson as unknown as PJSON, commands };
    const plugin = programPlugin(program);
    const config = new Config({ root, plugins: new Map([[plugin.name, plugin]]) });
    await config.load();
    bindRunContext(config, context);
    await dispatch(config, commandLine(argv), runtime);
  });
}

/** Runs something that may fail and reports the failure; the one place that does. @returns the exit status */
export async function reportingFailures({ log }: RunContext, run: () => Promise<void>): Promise<number> {
  try {
    await run();
    return EXIT.ok;
  } catch (error) {
    if (error instanceof StdoutClosed) return EXIT.ok;
    if (error instanceof Interrupted) return error.exitCode;
    const failures = failuresOf(error);
    log.failed(failures);
    return failures.at(-1)?.exitCode ?? EXIT.bug;
  }
}

async function dispatch(config: Config, argv: readonly string[], runtime: Runtime): Promise<void> {
  const [id, ...rest] = argv;
  if (id !== undefined && ['--version', '-V', 'version'].includes(id)) {
    runtime.stdout.write(Buffer.from(`${config.userAgent}\n`));
    return;
  }
  const known = id === undefined ? undefined : config.findCommand(id);
  if (id === undefined || isHelp(argv)) {
    if (known === undefined && id !== undefined && !isHelp([id])) throw unknownCommand(id, config.commandIDs);
    await showHelp(config, known?.id);
    return;
  }
  if (known === undefined) throw unknownCommand(id, config.commandIDs);
  await config.runCommand(id, rest, known);
}

/** Whether the words, up to `--`, ask for help. */
function isHelp(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  return words.slice(0, end < 0 ? undefined : end).some((word) => word === '--help' || word === '-h');
}
