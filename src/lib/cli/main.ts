/** The program: finds the command, runs it, and turns every failure into one message and one exit status. */
import { Config } from '@oclif/core/config';
import type { PJSON } from '@oclif/core/interfaces';
import pjson from '../../../package.json' with { type: 'json' };
import { EXIT } from '../errors.ts';
import { dispatch } from './dispatch.ts';
import { firstLook } from './first-look.ts';
import { watchProcess } from './last-resort.ts';
import { manifestReader } from './manifest.ts';
import { type CommandRegistry, type Program, programPlugin } from './program-plugin.ts';
import { reportFailure } from './report-failure.ts';
import { bindRunContext, createRunContext, type RunContext } from './run-context.ts';
import { processRuntime } from './runtime.ts';

/** The words of the command line and everything that is found beside the program. */
export interface Start extends Omit<Program, 'pjson'> {
  readonly argv: readonly string[];
}

/** Runs the program of the real process and ends it. */
export async function start(root: string, commands: CommandRegistry, argv: readonly string[]): Promise<void> {
  // oclif would look for a colour theme in the user's home at every start.
  process.env.IPC_DISABLE_THEME ??= '1';
  const context = createRunContext(processRuntime());
  watchProcess(context);
  const exitCode = await runProgram({ root, commands, describe: manifestReader(root), argv }, context);
  // Everything is written by now; what is still open, such as a standard input that nobody needs to the end, holds up nothing.
  context.runtime.exit(exitCode);
}

/** Runs one command line; the only place that catches what a command throws. @returns the exit status */
export async function runProgram({ argv, ...program }: Start, context: RunContext): Promise<number> {
  try {
    firstLook(argv, context.runtime.env, context.log);
    const plugin = programPlugin({ ...program, pjson: pjson as unknown as PJSON });
    const config = new Config({ root: program.root, plugins: new Map([[plugin.name, plugin]]) });
    await config.load();
    bindRunContext(config, context);
    await dispatch(config, argv);
    return EXIT.ok;
  } catch (error) {
    return reportFailure(error, context);
  }
}
