/** What a command knows of the process it runs in, as one value, so that tests run commands without a process. */
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

/** The runtime of the real process. Streams are looked at only when asked, as opening them costs milliseconds. */
export function processRuntime(): Runtime {
  return {
    env: process.env,
    stdout: new FdWriter(1),
    get stdin() {
      return process.stdin;
    },
    get stdoutIsTerminal() {
      return process.stdout.isTTY === true;
    },
    get stderrIsTerminal() {
      return process.stderr.isTTY === true;
    },
    get columns() {
      return process.stdout.columns || process.stderr.columns || 80;
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
