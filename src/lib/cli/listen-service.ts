/** `ipc listen` as a service: the agent loop with its log, control socket, metrics, monitor and service manager. */
import { monitorLine } from '../datapath/monitor-notification.ts';
import { ToolError } from '../errors.ts';
import { AgentLoop } from '../listen/agent-loop.ts';
import { ControlServer } from '../listen/control/control-server.ts';
import type { LoopEvent } from '../listen/loop-event.ts';
import { LoopMetrics } from '../listen/loop-metrics.ts';
import type { LoopSummary } from '../listen/loop-setup.ts';
import { loopStatus } from '../listen/loop-status.ts';
import { MetricsServer } from '../listen/metrics-server.ts';
import { type MonitorOutput, openMonitor } from '../listen/monitor-output.ts';
import { ServiceNotifier } from '../listen/service-notifier.ts';
import type { ByteWriter } from '../output/byte-writer.ts';
import { Closers } from './closers.ts';
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
  readonly #log: ListenLog;
  readonly #metrics: LoopMetrics | undefined;
  #loop: AgentLoop | undefined;

  constructor(options: ListenServiceOptions) {
    this.#options = options;
    this.#log = new ListenLog(options.logger, () => options.runtime.now());
    this.#metrics =
      options.flags.metrics === undefined ? undefined : new LoopMetrics(() => this.#loop && loopStatus(this.#loop));
  }

  /** The monitor writes to standard output, which is no report then. */
  get usesStdout(): boolean {
    return this.#options.flags.monitor === 'ndjson:-';
  }

  /** @throws what the loop throws */
  async run(): Promise<LoopSummary> {
    const { flags, runtime, stdout, rereadLogLevel } = this.#options;
    const uid = process.getuid?.() ?? 0;
    let monitor: MonitorOutput | undefined;
    const setup = loopSetup({
      ...this.#options,
      tell: (event) => this.#tell(event),
      onLatency: (seconds) => this.#metrics?.observeLatency(seconds),
      onOutcome:
        flags.monitor === undefined ? undefined : (event, isApplied) => monitor?.write(monitorLine(event, isApplied)),
    });
    const loop = new AgentLoop(setup);
    this.#loop = loop;
    await using closing = new Closers();
    closing.defer(runtime.onSignal(['SIGHUP'], rereadLogLevel));
    if (flags.monitor !== undefined) {
      const onSlowClient = (): void => this.#options.logger.warn('a client of the monitor does not read: turned away');
      const onFailure = (error: unknown): void => {
        // That the reader of standard output went away ends the run; a full disk must not.
        if (error instanceof ToolError) this.#options.logger.warn(`${error.message}: lines of the monitor are lost`);
        else loop.fail(error);
      };
      const opened = await openMonitor({ target: flags.monitor, stdout, uid, onSlowClient, onFailure });
      monitor = opened;
      closing.defer(() => opened.close());
    }
    const notifier = this.#notifier(loop);
    closing.defer(() => notifier.stop());
    if (flags.socket !== '') {
      const control = this.#control(loop, uid);
      await control.start();
      closing.defer(() => control.stop());
    }
    if (flags.metrics !== undefined && this.#metrics !== undefined) {
      const server = new MetricsServer({ metrics: this.#metrics, loop: () => this.#loop, address: flags.metrics });
      await server.start();
      closing.defer(() => server.stop());
      this.#options.logger.info(`metrics on port ${server.port}`, { port: server.port });
    }
    notifier.start();
    this.#options.signal.addEventListener('abort', () => notifier.stopping(), { once: true });
    return await loop.run();
  }

  #tell(event: LoopEvent): void {
    if (event.kind === 'bad-line') this.#loop?.noteBadLine(event.source);
    this.#metrics?.tell(event);
    this.#log.tell(event);
  }

  #control(loop: AgentLoop, uid: number): ControlServer {
    const { flags, version } = this.#options;
    return new ControlServer({
      loop,
      path: flags.socket,
      version,
      uid,
      onBug: (error) => loop.fail(error),
      onRefused: (reason) => this.#tell({ kind: 'client-refused', source: 'the control socket', reason }),
    });
  }

  #notifier(loop: AgentLoop): ServiceNotifier {
    const { notifySocket, watchdogUsec, logger } = this.#options;
    return new ServiceNotifier({
      socket: notifySocket,
      watchdogUsec,
      status: () => loopStatus(loop),
      onFailure: (error) => logger.warn(error.message),
    });
  }
}
