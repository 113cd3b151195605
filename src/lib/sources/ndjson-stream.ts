/**
 * Events from a pipe, a FIFO or standard input. Only a `synced` event tells that everything has been said: a stream that
 * ends before it was cut off. A reading is what the stream has said until now, and it goes on to be read.
 */
import type { IdentityScope } from '../identity/numeric-identity.ts';
import type { Family } from '../net/address.ts';
import { Coverage } from './coverage.ts';
import { endMissing } from './end-missing.ts';
import { EventReader } from './event-reader.ts';
import type { NdjsonSetup } from './ndjson-file.ts';
import type { Reading, ReadOptions, Source, SourceRecord, SourceSink } from './source.ts';
import { SourceState } from './source-state.ts';
import { withDeadline } from './with-deadline.ts';

export interface NdjsonStreamSetup extends NdjsonSetup {
  /** Opened when the source is used first. */
  readonly input: () => AsyncIterable<Uint8Array>;
}

export class NdjsonStream implements Source {
  readonly name: string;
  readonly rank: string;
  readonly #setup: NdjsonStreamSetup;
  readonly #state = new SourceState();
  readonly #closed = new AbortController();
  #coverage = new Coverage();
  #events = 0;
  /** Settles at the first `synced`; rejects when the stream ends or fails before it. */
  #synced: Promise<void> | undefined;
  #failure: unknown;

  constructor(setup: NdjsonStreamSetup) {
    this.name = setup.name;
    this.rank = setup.rank;
    this.#setup = setup;
  }

  speaksFor(scope: IdentityScope, family: Family, clusterId: number): boolean {
    return this.#coverage.has(scope, family, clusterId);
  }

  async read(visit: (record: SourceRecord) => void, options: ReadOptions): Promise<Reading> {
    this.#synced ??= this.#begin();
    await withDeadline(this.#synced, this.name, options);
    if (this.#failure !== undefined) throw this.#failure;
    return { revision: String(this.#events), records: this.#state.visit(visit) };
  }

  async follow(sink: SourceSink, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    const { path, strict, onBadLine } = this.#setup;
    const reader = new EventReader({
      name: path,
      source: this.rank,
      onEvent: (event) => {
        if (event.op === 'synced') sink.synced();
        else {
          if (event.op === 'upsert') this.#coverage.add(event.record.key, event.record.identity);
          sink.event(event);
        }
      },
      onUpsert:
        sink.upsert &&
        ((upsert) => {
          this.#coverage.addKey(upsert.key, upsert.identity);
          sink.upsert?.(upsert);
        }),
      onBadLine: (error) => {
        onBadLine?.(error);
        if (strict) throw error;
      },
    });
    for await (const chunk of until(this.#setup.input(), signal)) {
      reader.push(chunk);
      await sink.drained?.();
    }
    if (signal.aborted) return;
    reader.end();
    sink.lost(`${path} has ended`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
  }

  #begin(): Promise<void> {
    this.#coverage = this.#state.coverage;
    return new Promise((resolve, reject) => {
      const reader = new EventReader({
        name: this.#setup.path,
        source: this.rank,
        onEvent: (event) => {
          this.#events++;
          if (event.op === 'synced') resolve();
          else this.#state.apply(event);
        },
        onBadLine: (error) => {
          throw error;
        },
      });
      this.#pump(reader).then(
        () => reject(endMissing(this.name)),
        (error) => {
          this.#failure = error;
          reject(error);
        },
      );
    });
  }

  async #pump(reader: EventReader): Promise<void> {
    for await (const chunk of until(this.#setup.input(), this.#closed.signal)) reader.push(chunk);
    reader.end();
  }
}

/** Chunks of the input until the signal fires; the input is closed then. */
async function* until(input: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  const iterator = input[Symbol.asyncIterator]();
  const aborted = new Promise<IteratorResult<Uint8Array>>((resolve) => {
    const stop = (): void => resolve({ done: true, value: undefined });
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  for (;;) {
    const { done, value } = await Promise.race([iterator.next(), aborted]);
    if (done) break;
    yield value;
  }
  if (signal.aborted) void iterator.return?.();
}
