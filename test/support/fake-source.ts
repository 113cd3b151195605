/** A source whose state a test writes by hand. */
import { UnreachableError } from '../../src/lib/errors.ts';
import type { IdentityScope } from '../../src/lib/identity/numeric-identity.ts';
import type { Family } from '../../src/lib/net/address.ts';
import { Coverage } from '../../src/lib/sources/coverage.ts';
import type {
  Reading,
  ReadOptions,
  Source,
  SourceEvent,
  SourceRecord,
  SourceSink,
} from '../../src/lib/sources/source.ts';
import { SourceState } from '../../src/lib/sources/source-state.ts';

export class FakeSource implements Source {
  readonly name: string;
  readonly rank: string;
  readonly #state = new SourceState();
  readonly #sinks = new Set<SourceSink>();
  readonly #alsoSpeaksFor = new Coverage();
  /** Runs before every reading: a test changes the world here. */
  beforeRead: (reading: number) => void | Promise<void> = () => {};
  #revision = 0;
  #readings = 0;
  #lost: string | undefined = 'not synced yet';

  constructor(name = 'fake', rank = 'kvstore') {
    this.name = name;
    this.rank = rank;
  }

  /** How often it was read to the end. */
  get readings(): number {
    return this.#readings;
  }

  upsert(key: string, identity: number, more: Partial<SourceRecord> = {}): void {
    this.send({ op: 'upsert', record: { source: this.rank, ...more, key, identity } });
  }

  delete(key: string): void {
    this.send({ op: 'delete', key, source: this.rank });
  }

  send(event: SourceEvent): void {
    this.#revision++;
    this.#state.apply(event);
    for (const sink of this.#sinks) sink.event(event);
  }

  synced(): void {
    this.#lost = undefined;
    for (const sink of this.#sinks) sink.synced();
  }

  lost(reason: string): void {
    this.#lost = reason;
    for (const sink of this.#sinks) sink.lost(reason);
  }

  /** Makes it speak for a kind of entry of which it has none. */
  speakFor(scope: IdentityScope, family: Family, clusterId = 0): void {
    this.#alsoSpeaksFor.addKind(scope, family, clusterId);
  }

  speaksFor(scope: IdentityScope, family: Family, clusterId: number): boolean {
    return this.#state.coverage.has(scope, family, clusterId) || this.#alsoSpeaksFor.has(scope, family, clusterId);
  }

  async read(visit: (record: SourceRecord) => void, { signal }: ReadOptions): Promise<Reading> {
    await this.beforeRead(this.#readings);
    signal?.throwIfAborted();
    if (this.#lost !== undefined) {
      throw new UnreachableError(`Cannot read source ${this.name}: ${this.#lost}`, { code: 'SOURCE_NOT_SYNCED' });
    }
    this.#readings++;
    return { revision: String(this.#revision), records: this.#state.visit(visit) };
  }

  async follow(sink: SourceSink, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    this.#state.visit((record) => {
      if (record.identity !== undefined) sink.event({ op: 'upsert', record: { ...record, identity: record.identity } });
    });
    if (this.#lost === undefined) sink.synced();
    this.#sinks.add(sink);
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    this.#sinks.delete(sink);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#sinks.clear();
  }
}
