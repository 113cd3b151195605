/** What the agent loop tells, as lines on standard error. Lines that could come by the thousand are bounded. */
import type { LoopEvent } from '../listen/loop-event.ts';
import type { Log } from './log.ts';

/** Lines of one kind within a window; the rest of them is counted. */
const MOST_LINES = 10;
const WINDOW_MS = 10_000;

interface Bucket {
  begun: number;
  lines: number;
  dropped: number;
}

export class ListenLog {
  readonly #log: Log;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  /** @param now milliseconds since the epoch */
  constructor(log: Log, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  tell(event: LoopEvent): void {
    const line = lineOf(event);
    if (line === undefined) return;
    const { level, text } = line;
    const fields = { time: new Date(this.#now()).toISOString(), kind: event.kind, ...fieldsOf(event) };
    if (level === 'debug') this.#log.debug(text, fields);
    else if (BOUNDED.has(event.kind)) this.#bounded(event.kind, () => this.#log[level](text, fields));
    else this.#log[level](text, fields);
  }

  #bounded(kind: string, write: () => void): void {
    const now = this.#now();
    let bucket = this.#buckets.get(kind);
    if (bucket === undefined || now - bucket.begun >= WINDOW_MS) {
      if (bucket !== undefined && bucket.dropped > 0) this.#log.warn(`${bucket.dropped} more lines of kind ${kind}`);
      bucket = { begun: now, lines: 0, dropped: 0 };
      this.#buckets.set(kind, bucket);
    }
    if (++bucket.lines <= MOST_LINES) write();
    else bucket.dropped++;
  }
}

const BOUNDED: ReadonlySet<LoopEvent['kind']> = new Set([
  'bad-line',
  'client-refused',
  'rejected',
  'flapping',
  'foreign',
  'write-problem',
  'cache-problem',
]);

interface Line {
  readonly level: 'warn' | 'info' | 'debug';
  readonly text: string;
}

function lineOf(event: LoopEvent): Line | undefined {
  switch (event.kind) {
    case 'phase':
      return info(`phase ${event.phase}`);
    case 'source': {
      const reason = event.reason === undefined ? '' : `: ${event.reason}`;
      const text = `source ${event.source} is ${event.condition}${reason}`;
      return event.condition === 'lost' ? warn(text) : info(text);
    }
    case 'synced':
      return info('all sources are synced');
    case 'bad-line':
      return warn(event.error.message);
    case 'client-refused':
      return warn(`a client of ${event.source} was turned away: ${event.reason}`);
    case 'rejected':
      return { level: 'debug', text: `${event.subject} of source ${event.source} is not used: ${event.reason}` };
    case 'flapping':
      return warn(`${event.prefix} is flapping: its identity went ${event.identities.join(' → ')} within a minute`);
    case 'foreign':
      return warn(`${event.prefix} was changed by somebody else: ${event.found} instead of ${event.expected}`);
    case 'reassert-stopped':
      return warn(`${event.prefix} is changed again and again by somebody else: it is not written any more`);
    case 'pin':
      return event.isThere
        ? info(`a map is pinned to ${event.pin} again`)
        : warn(`nothing is pinned to ${event.pin} any more: changes wait until a map is`);
    case 'map-replaced':
      return warn(`another map is under the pin, id ${event.mapId}: everything is written into it`);
    case 'write-problem':
      return warn(`${event.prefix === undefined ? '' : `${event.prefix}: `}${event.message}`);
    case 'cache-problem':
      return warn(event.message);
    case 'checkpoint':
      return { level: 'debug', text: `checkpoint of ${event.identities} identities written` };
    case 'checkpoint-failed':
      return warn(event.error.message);
    case 'released':
      return info(`released ${event.prefixes} placeholders; ${event.identities} identities are free`);
    case 'unclean-start':
      return warn(
        `the last run did not end in order: changes since its checkpoint of ${event.time}, at most 10 s, are missing`,
      );
    case 'restored':
      return info(`restored ${event.prefixes} prefixes with ${event.identities} labelled identities`);
    case 'gc':
      return event.deleted > 0 ? info(event.message) : { level: 'debug', text: event.message };
    case 'gc-failed':
      return warn(event.error.message);
  }
}

function fieldsOf(event: LoopEvent): Readonly<Record<string, unknown>> {
  const { kind: _, ...fields } = event;
  if (!('error' in fields)) return fields;
  const { error, ...rest } = fields;
  return { ...rest, code: error.code, ...error.operands };
}

function info(text: string): Line {
  return { level: 'info', text };
}

function warn(text: string): Line {
  return { level: 'warn', text };
}
