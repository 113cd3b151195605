/** The metrics of a loop in the words of Prometheus. What the loop counts by itself is read when it is asked for. */
import type * as Prom from 'prom-client';
import type { LoopEvent } from './loop-event.ts';
import { PHASES } from './loop-event.ts';
import type { LoopStatus } from './loop-status.ts';

/** Seconds; the contract asks for 10 ms. */
const LATENCY_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

export class LoopMetrics {
  readonly #registry: Prom.Registry;
  readonly #latency: Prom.Histogram;
  readonly #checkpoints: Prom.Histogram;
  readonly #flapping: Prom.Counter;
  readonly #problems: Prom.Counter<'problem'>;
  readonly #released: Prom.Counter;

  /** @param status undefined until there is a loop */
  constructor(status: () => LoopStatus | undefined) {
    const prom = require('prom-client') as typeof Prom;
    this.#registry = new prom.Registry();
    const registers = [this.#registry];
    this.#latency = new prom.Histogram({
      name: 'ipc_listen_event_to_map_seconds',
      help: 'From an event to its entry in the map; one change in 64 where they come in a crowd',
      buckets: LATENCY_BUCKETS,
      registers,
    });
    this.#checkpoints = new prom.Histogram({
      name: 'ipc_listen_checkpoint_seconds',
      help: 'How long a checkpoint took, with the turns that others had meanwhile',
      buckets: [0.01, 0.1, 0.5, 1, 5, 10],
      registers,
    });
    const counter = (name: string, help: string) => new prom.Counter({ name: `ipc_listen_${name}`, help, registers });
    this.#flapping = counter('flapping_total', 'Prefixes whose identity changed three times within a minute');
    this.#released = counter('released_prefixes_total', 'Placeholders that were ended');
    this.#problems = new prom.Counter({
      name: 'ipc_listen_write_problems_total',
      help: 'Writes that went wrong, by what went wrong',
      labelNames: ['problem'],
      registers,
    });
    for (const { name, help, value, labels, isTotal } of GAUGES) {
      const type = isTotal ? prom.Counter : prom.Gauge;
      new type({
        name: `ipc_listen_${name}`,
        help,
        labelNames: labels ?? [],
        registers,
        collect() {
          const present = status();
          const samples = present === undefined ? [] : value(present);
          this.reset();
          // Absent, not 0: the age of a checkpoint that was never written is not small.
          if (samples.length === 0 && labels === undefined) this.remove();
          for (const [labelled, number] of samples) this.inc(labelled, number);
        },
      });
    }
  }

  observeLatency(seconds: number): void {
    this.#latency.observe(seconds);
  }

  tell(event: LoopEvent): void {
    if (event.kind === 'flapping') this.#flapping.inc();
    else if (event.kind === 'write-problem') this.#problems.inc({ problem: event.problem });
    else if (event.kind === 'checkpoint') this.#checkpoints.observe(event.ms / 1000);
    else if (event.kind === 'released') this.#released.inc(event.prefixes);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }
}

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly labels?: string[];
  /** Only ever grows. */
  readonly isTotal?: boolean;
  readonly value: (status: LoopStatus) => readonly Sample[];
}

const one = (value: number | undefined): readonly Sample[] => (value === undefined ? [] : [[{}, value]]);
const seconds = (from: string | undefined, to: string): number | undefined =>
  from === undefined ? undefined : (Date.parse(to) - Date.parse(from)) / 1000;

const GAUGES: readonly Gauge[] = [
  { name: 'entries', help: 'Entries in the cache', value: ({ entries }) => one(entries) },
  { name: 'identities', help: 'Local and remote-node identities', value: ({ identities }) => one(identities) },
  { name: 'queue', help: 'Prefixes that wait to be resolved', value: ({ queued }) => one(queued) },
  { name: 'pending', help: 'Changes that the map does not have yet', value: ({ pending }) => one(pending) },
  {
    name: 'pressure',
    help: 'Entries in the cache by the entries that the map can hold',
    value: ({ entries, map }) => one(map && entries / map.maxEntries),
  },
  { name: 'ready', help: 'Whether the sources are complete', value: ({ ready }) => one(ready ? 1 : 0) },
  {
    name: 'phase',
    help: 'The phase of the loop: 1 for the present one',
    labels: ['phase'],
    value: ({ phase }) => PHASES.map((name) => [{ phase: name }, name === phase ? 1 : 0]),
  },
  {
    name: 'placeholders',
    help: 'Restored prefixes that are kept until the grace period ends',
    value: ({ restore }) => one(restore?.placeholders),
  },
  {
    name: 'checkpoint_age_seconds',
    help: 'Since the checkpoint was written',
    value: ({ checkpoint, time }) => one(seconds(checkpoint.time, time)),
  },
  {
    name: 'checkpoint_failures_total',
    help: 'Checkpoints that could not be written',
    isTotal: true,
    value: ({ checkpoint }) => one(checkpoint.failures),
  },
  {
    name: 'source_synced',
    help: 'Whether the source has been complete',
    labels: ['source'],
    value: ({ sources }) => sources.map(({ name, synced }) => [{ source: name }, synced === undefined ? 0 : 1]),
  },
  {
    name: 'source_connected',
    help: 'Whether the source is there now',
    labels: ['source'],
    value: ({ sources }) =>
      sources.map(({ name, condition }) => [{ source: name }, condition === 'synced' || condition === 'ended' ? 1 : 0]),
  },
  {
    name: 'events_total',
    help: 'Events of a source',
    labels: ['source'],
    isTotal: true,
    value: ({ sources }) => sources.map(({ name, events }) => [{ source: name }, events]),
  },
  {
    name: 'rejected_events_total',
    help: 'Events that were not used, by reason',
    labels: ['source', 'reason'],
    isTotal: true,
    value: ({ sources }) =>
      sources.flatMap(({ name, rejected }) =>
        Object.entries(rejected).map(([reason, count]): Sample => [{ source: name, reason }, count]),
      ),
  },
  {
    name: 'stale_deletes_total',
    help: 'Late deletes of what has another identity by now',
    isTotal: true,
    value: ({ sources, writes }) =>
      one(sources.reduce((sum, { staleDeletes }) => sum + staleDeletes, writes?.staleDeletes ?? 0)),
  },
  {
    name: 'writes_total',
    help: 'What became of changes on their way to the map',
    labels: ['outcome'],
    isTotal: true,
    value: ({ writes }) => Object.entries(writes ?? {}).map(([outcome, count]) => [{ outcome }, count]),
  },
  {
    name: 'map_replaced_total',
    help: 'How often another map was found under the pin',
    isTotal: true,
    value: ({ map }) => one(map?.replaced),
  },
  {
    name: 'foreign_changes_total',
    help: 'Entries that somebody else changed',
    isTotal: true,
    value: ({ foreign }) => one(foreign.changes),
  },
  {
    name: 'reasserted_total',
    help: 'Entries that were written again after that',
    isTotal: true,
    value: ({ foreign }) => one(foreign.reasserted),
  },
  { name: 'gc_runs_total', help: 'Garbage collections', isTotal: true, value: ({ gc }) => one(gc.runs) },
  {
    name: 'gc_failures_total',
    help: 'Garbage collections that failed or were refused',
    isTotal: true,
    value: ({ gc }) => one(gc.failures),
  },
  { name: 'gc_deleted_total', help: 'Entries deleted as garbage', isTotal: true, value: ({ gc }) => one(gc.deleted) },
];
