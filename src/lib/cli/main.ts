/** The program: finds the command, runs it, and turns every failure into one message and one exit status. */
import { Config } from '@oclif/core/config';
import { loadHelpClass, normalizeArgv } from '@oclif/core/help';
import type { PJSON } from '@oclif/core/interfaces';
import { settings } from '@oclif/core/settings';
import pjson from '../../../package.json' with { type: 'json' };
import { EXIT } from '../errors.ts';
import { StdoutClosed } from '../output/byte-writer.ts';
import { failuresOf } from './failure.ts';
import { firstLook, helpWords } from './first-look.ts';
import { Log } from './log.ts';
import { bindRunContext, type RunContext } from './run-context.ts';
import { processRuntime, type Runtime } from './runtime.ts';
import { Interrupted } from './signals.ts';
import { unknownCommand } from './usage-error.ts';

export { IpcHelp } from './help.ts';

/** Runs the program of the real process; its exit status is set when everything is written. */
export async function start(root: string, argv: readonly string[] = process.argv.slice(2)): Promise<void> {
  // Never compile sources at run time, whatever NODE_ENV says; never read a theme or plugins from the user's home.
  settings.enableAutoTranspile = false;
  process.env.IPC_DISABLE_THEME ??= '1';
  process.exitCode = await runProgram(root, argv, processRuntime());
}

/** @returns the exit status */
export async function runProgram(root: string, argv: readonly string[], runtime: Runtime): Promise<number> {
  const context: RunContext = { runtime, log: new Log(runtime) };
  return reportingFailures(context, async () => {
    const config = new Config({ root, pjson: pjson as unknown as PJSON, userPlugins: false, devPlugins: false });
    await config.load();
    bindRunContext(config, context);
    firstLook(argv, runtime.env, context.log);
    await dispatch(config, helpWords(argv), runtime);
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

async function dispatch(config: Config, argv: string[], runtime: Runtime): Promise<void> {
  if (['--version', '-V', 'version'].includes(argv[0] ?? '')) {
    runtime.stdout.write(Buffer.from(`${config.userAgent}\n`));
    return;
  }
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  const [id = '', ...rest] = normalizeArgv(config, argv);
  const known = config.findCommand(id);
  if (argv.length === 0 || words.includes('--help') || words.includes('-h')) {
    if (known === undefined && !id.startsWith('-') && argv.length > 0) throw unknownCommand(id, config.commandIDs);
    const HelpClass = await loadHelpClass(config);
    await new HelpClass(config, config.pjson.oclif.helpOptions).showHelp(words.filter((word) => word !== '-h'));
    return;
  }
  if (known === undefined) throw unknownCommand(id, config.commandIDs);
  await config.runCommand(id, rest, known);
}
