/** What a command knows of the process it runs in, as one value, so that tests run commands without a process. */
import type * as Tty from 'node:tty';
import { type ByteWriter, FdWriter } from '../output/byte-writer.ts';
import { writeDiagnostics } from './diagnostics.ts';

export interface Runtime {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: ByteWriter;
  readonly stdin: NodeJS.ReadableStream;
  readonly stdoutIsTerminal: boolean;
  readonly stderrIsTerminal: boolean;
  /** Width of the terminal, 80 where there is none. */
  readonly columns: number;
  /** The config file that is read when neither --config nor IPC_CONFIG names one. */
  readonly systemConfig: string;
  /** Writes diagnostics to standard error; never throws. */
  writeError(text: string): void;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls the listener on every signal until the returned function is called. */
  onSignal(names: readonly NodeJS.Signals[], listener: (name: NodeJS.Signals) => void): () => void;
  /** Ends the process at once. */
  exit(code: number): void;
}

export const SYSTEM_CONFIG = '/etc/ipc/config.yaml';

/** The runtime of the real process. Streams are opened only when something asks for them, as that costs milliseconds. */
export function processRuntime(): Runtime {
  return {
    env: process.env,
    stdout: new FdWriter(1, makeStdoutBlocking),
    get stdin() {
      return process.stdin;
    },
    get stdoutIsTerminal() {
      return isTerminal(1);
    },
    get stderrIsTerminal() {
      return isTerminal(2);
    },
    get columns() {
      return process.stdout.columns || 80;
    },
    systemConfig: SYSTEM_CONFIG,
    writeError: (text) => writeDiagnostics(2, text),
    now: () => Date.now(),
    onSignal(names, listener) {
      for (const name of names) process.on(name, listener);
      return () => {
        for (const name of names) process.off(name, listener);
      };
    },
    exit: (code) => process.exit(code),
  };
}

function isTerminal(fd: number): boolean {
  return (require('node:tty') as typeof Tty).isatty(fd);
}

/**
 * oclif opens process.stdout, and Node makes a pipe non-blocking then. A synchronous writer to a full non-blocking pipe
 * can only try again and again; a blocking one is woken by the kernel.
 */
function makeStdoutBlocking(): void {
  const { _handle: handle } = process.stdout as unknown as { _handle?: { setBlocking?(on: boolean): void } };
  handle?.setBlocking?.(true);
}
