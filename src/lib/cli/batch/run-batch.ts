/** Runs the commands of a batch, each in a context of its own within this process. */
import type { Config } from '@oclif/core/interfaces';
import { UsageError } from '../../errors.ts';
import { type ByteWriter, StdoutClosed } from '../../output/byte-writer.ts';
import { dispatch } from '../dispatch.ts';
import { type Failure, failuresOf } from '../failure.ts';
import { Log } from '../log.ts';
import { bindRunContext, runContextOf } from '../run-context.ts';
import type { Runtime } from '../runtime.ts';
import { Interrupted } from '../signals.ts';
import { checkCommand, type Inherited, withInherited } from './batch-command.ts';
import { batchErrorOf, type FailedLine, failureOfLine, malformedLine, someFailed } from './batch-error.ts';
import type { BatchLine } from './batch-lines.ts';
import type { BatchOutput } from './batch-output.ts';

export interface BatchRun {
  readonly config: Config;
  /** `-` for standard input. */
  readonly file: string;
  readonly inherited: Inherited;
  readonly output: BatchOutput;
  readonly keepGoing: boolean;
  readonly signal: AbortSignal;
  /** Drops what was not completed when a command ends the process. */
  readonly beforeExit: () => void;
}

/** @throws the first line's error that is no command which could be run */
export async function checkLines(lines: AsyncIterable<BatchLine>, { config, file }: BatchRun): Promise<void> {
  for await (const line of lines) {
    if (line.problem !== undefined) throw malformedLine(file, line);
    try {
      checkCommand(config, line.words);
    } catch (error) {
      const [failure] = failuresOf(error);
      throw failure === undefined ? error : batchErrorOf(failureOfLine(failure, file, line.line));
    }
  }
}

/**
 * @throws {BatchError} of the line that failed, with its exit status; when it went on, of all that failed with the worst
 * @throws {MalformedError} for a line that is no command
 */
export async function runLines(lines: AsyncIterable<BatchLine>, run: BatchRun): Promise<void> {
  const { log } = runContextOf(run.config);
  const failed: FailedLine[] = [];
  let count = 0;
  for await (const line of lines) {
    count++;
    const failures = await runLine(line, run);
    if (run.signal.aborted) return;
    const decisive = failures.at(-1);
    if (decisive === undefined) continue;
    for (const other of failures.slice(0, -1)) log.failure(other);
    if (!run.keepGoing) throw batchErrorOf(decisive);
    log.failure(decisive);
    failed.push({ line: line.line, exitCode: decisive.exitCode });
  }
  if (failed.length > 0) throw someFailed(run.file, count, failed);
}

/** @returns what failed, the failure that decides the exit status last; nothing when all went well */
async function runLine({ line, words, problem }: BatchLine, run: BatchRun): Promise<readonly Failure[]> {
  const { runtime } = runContextOf(run.config);
  const stdout = run.output.begin({ line, words, time: runtime.now() });
  let failures: readonly Failure[] = [];
  try {
    if (problem !== undefined) throw malformedLine(run.file, { line, words, problem });
    await runWords(words, stdout, run);
  } catch (error) {
    if (error instanceof Interrupted) run.output.end(interrupted(error));
    if (error instanceof StdoutClosed || error instanceof Interrupted) throw error;
    failures = failuresOf(error);
  }
  run.output.end(failures.at(-1));
  return problem === undefined ? failures.map((failure) => failureOfLine(failure, run.file, line)) : failures;
}

function interrupted({ exitCode, message }: Interrupted): Failure {
  return { exitCode, code: 'INTERRUPTED', message, operands: {} };
}

async function runWords(line: readonly string[], stdout: ByteWriter, run: BatchRun): Promise<void> {
  const words = checkCommand(run.config, line);
  const command = await run.config.findCommand(words[0] ?? '', { must: true }).load();
  const argv = withInherited(words, { ...command.flags, ...command.baseFlags }, run.inherited);
  await dispatch(configOf(stdout, run), argv);
}

/** oclif's configuration as it is, tied to another context. */
function configOf(stdout: ByteWriter, { config, file, beforeExit }: BatchRun): Config {
  const { runtime, log, configFiles } = runContextOf(config);
  const own: Config = Object.create(config);
  const ownLog = new Log(runtime);
  ownLog.level = log.level;
  ownLog.format = log.format;
  bindRunContext(own, { runtime: runtimeOf(runtime, { stdout, file, beforeExit }), log: ownLog, configFiles });
  return own;
}

/** The runtime of the process, whose streams must not be opened by looking at them, with another standard output. */
function runtimeOf(
  runtime: Runtime,
  { stdout, file, beforeExit }: { stdout: ByteWriter } & Pick<BatchRun, 'file' | 'beforeExit'>,
): Runtime {
  return Object.create(runtime, {
    stdout: { value: stdout },
    ...(file === '-' && { stdin: { get: stdinIsTaken } }),
    exit: {
      value: (code: number) => {
        beforeExit();
        runtime.exit(code);
      },
    },
  }) as Runtime;
}

function stdinIsTaken(): never {
  throw new UsageError('Cannot read standard input: the batch is read from it', {
    code: 'STDIN_TAKEN',
    hint: 'put the commands into a file',
  });
}
