/** Runs a command class in this process, through the same code that the program runs, and collects what it prints. */
import { Readable } from 'node:stream';
import type { Command } from '@oclif/core/command';
import { runProgram } from '../../src/lib/cli/main.ts';
import { createRunContext } from '../../src/lib/cli/run-context.ts';
import type { Runtime } from '../../src/lib/cli/runtime.ts';
import { type ByteWriter, StdoutClosed } from '../../src/lib/output/byte-writer.ts';

export interface RunOptions {
  /** The only environment that the command sees. */
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Standard input that comes piece by piece. */
  readonly stdinStream?: NodeJS.ReadableStream;
  /** Stands for /etc/ipc/config.yaml; none by default. */
  readonly systemConfig?: string;
  /** Standard output and error are a terminal of 80 columns. */
  readonly terminal?: boolean;
  /** Milliseconds since the epoch that the command takes for now. */
  readonly now?: number;
  /** Standard output is closed by its reader after so many bytes. */
  readonly stdoutCapacity?: number;
  /** Other commands of the program, by name. */
  readonly commands?: Readonly<Record<string, unknown>>;
  /** Receives the function that delivers a signal to the running command. */
  readonly onStart?: (deliver: (signal: NodeJS.Signals) => void) => void;
}

export interface RunResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** @param argv words after the command's name, which is the class's in lower case */
export async function runCommand(
  command: unknown,
  argv: readonly string[],
  options: RunOptions = {},
): Promise<RunResult> {
  const type = command as Command.Class;
  const name = type.name.toLowerCase();
  const out: Buffer[] = [];
  let stderr = '';
  let exited: number | undefined;
  const listeners = new Set<(signal: NodeJS.Signals) => void>();
  const runtime: Runtime = {
    env: options.env ?? {},
    stdout: memoryWriter(out, options.stdoutCapacity ?? Number.POSITIVE_INFINITY),
    stdin: options.stdinStream ?? Readable.from(options.stdin === undefined ? [] : [Buffer.from(options.stdin)]),
    stdoutIsTerminal: options.terminal ?? false,
    stderrIsTerminal: options.terminal ?? false,
    columns: 80,
    systemConfig: options.systemConfig ?? '/nonexistent/config.yaml',
    writeError: (text) => {
      stderr += text;
    },
    now: () => options.now ?? Date.UTC(2026, 0, 2, 3, 4, 5, 6),
    onSignal: (names, listener) => {
      const filtered = (signal: NodeJS.Signals): void => {
        if (names.includes(signal)) listener(signal);
      };
      listeners.add(filtered);
      return () => listeners.delete(filtered);
    },
    exit: (code) => {
      exited ??= code;
    },
  };
  options.onStart?.((signal) => {
    for (const listener of [...listeners]) listener(signal);
  });
  const commands = { ...(options.commands as Record<string, Command.Class>), [name]: type };
  const describe = (id: string): Partial<Command.Cached> => {
    const described = commands[id] ?? type;
    const { summary, description, args } = described;
    return {
      summary,
      description,
      args,
      flags: { ...described.flags, ...described.baseFlags },
    } as Partial<Command.Cached>;
  };
  const program = { root: '/nonexistent', commands, describe };
  const exitCode = await runProgram({ ...program, argv: [name, ...argv] }, createRunContext(runtime));
  return { exitCode: exited ?? exitCode, stdout: Buffer.concat(out).toString(), stderr };
}

/** The last line of standard error as JSON: where the error of a run under --json stands. */
export function errorOf({ stderr }: Pick<RunResult, 'stderr'>): Record<string, unknown> {
  const last = stderr.trimEnd().split('\n').at(-1) ?? '';
  return (JSON.parse(last) as { error: Record<string, unknown> }).error;
}

function memoryWriter(chunks: Buffer[], capacity: number): ByteWriter {
  let room = capacity;
  return {
    write(bytes) {
      if (bytes.length > room) throw new StdoutClosed();
      room -= bytes.length;
      chunks.push(Buffer.from(bytes));
    },
    end: async () => {},
    abort: () => {},
  };
}
