/** What a long run shows while it works: one line that is rewritten on a terminal, a line a second under JSON. */
import type { Log } from './log.ts';
import type { Runtime } from './runtime.ts';

/** Shorter work says nothing. */
const SILENT_MS = 1_000;
const TERMINAL_MS = 100;
const JSON_MS = 1_000;

export interface ProgressOptions {
  readonly runtime: Pick<Runtime, 'now' | 'writeError' | 'stderrIsTerminal'>;
  readonly logger: Log;
  /** What is counted: `entries`. */
  readonly unit: string;
  /** How many there can be at most; absent when nobody knows. */
  readonly most?: number;
}

export class Progress {
  readonly #options: ProgressOptions;
  readonly #everyMs: number;
  #next: number;
  #shown = false;

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#next = options.runtime.now() + SILENT_MS;
    const { logger, runtime } = options;
    const shows = logger.enabled('info') && (logger.format === 'json' || runtime.stderrIsTerminal);
    this.#everyMs = !shows ? Number.POSITIVE_INFINITY : logger.format === 'json' ? JSON_MS : TERMINAL_MS;
  }

  /** Tells how many are done; cheap enough for every batch. */
  update(done: number): void {
    const { runtime, logger, unit, most } = this.#options;
    if (this.#everyMs === Number.POSITIVE_INFINITY) return;
    const now = runtime.now();
    if (now < this.#next) return;
    this.#next = now + this.#everyMs;
    if (logger.format === 'json') {
      logger.event({
        time: new Date(now).toISOString(),
        kind: 'progress',
        unit,
        done,
        ...(most !== undefined && { most }),
      });
      return;
    }
    this.#shown = true;
    runtime.writeError(`\r\x1b[K${done}${most === undefined ? '' : ` of at most ${most}`} ${unit}`);
  }

  /** Clears the line. */
  end(): void {
    if (this.#shown) this.#options.runtime.writeError('\r\x1b[K');
    this.#shown = false;
  }
}
