/** `ipc listen` as a service: the agent loop with its log, control socket, metrics, monitor and service manager. */
import { AgentLoop } from '../listen/agent-loop.ts';
import type { LoopEvent } from '../listen/loop-event.ts';
import type { LoopSummary } from '../listen/loop-setup.ts';
import type { ByteWriter } from '../output/byte-writer.ts';
import type { ListenFlagValues } from './listen-flags.ts';
import { ListenLog } from './listen-log.ts';
import { loopSetup } from './listen-run.ts';
import type { Log } from './log.ts';
import type { Runtime } from './runtime.ts';
import type { SharedValues } from './shared-flags.ts';

export interface ListenServiceOptions {
  readonly flags: ListenFlagValues;
  readonly shared: SharedValues;
  readonly runtime: Runtime;
  readonly logger: Log;
  readonly signal: AbortSignal;
  readonly version: string;
  readonly tcBpfMnt: string | undefined;
  readonly agentSocket: string | undefined;
  readonly notifySocket: string | undefined;
  readonly watchdogUsec: string | undefined;
  readonly stdout: () => ByteWriter;
  /** Reads the level of the log anew. */
  readonly rereadLogLevel: () => void;
}

export class ListenService {
  readonly #options: ListenServiceOptions;

  constructor(options: ListenServiceOptions) {
    this.#options = options;
  }

  /** The monitor writes to standard output, which is no report then. */
  get usesStdout(): boolean {
    return this.#options.flags.monitor === 'ndjson:-';
  }

  async run(): Promise<LoopSummary> {
    const { runtime, logger, rereadLogLevel } = this.#options;
    const log = new ListenLog(logger, () => runtime.now());
    let loop: AgentLoop | undefined;
    const tell = (event: LoopEvent): void => {
      if (event.kind === 'bad-line' && loop !== undefined) loop.badLines++;
      log.tell(event);
    };
    const setup = loopSetup({ ...this.#options, tell, onLatency: () => {}, onOutcome: undefined });
    loop = new AgentLoop(setup);
    const stopWatching = runtime.onSignal(['SIGHUP'], rereadLogLevel);
    try {
      return await loop.run();
    } finally {
      stopWatching();
    }
  }
}
