/**
 * A cilium-agent as a source: its memory of the map. A listing holds the agent's locks, so between two readings its events
 * are followed, and the second reading is the first with what has changed since.
 */
import { ToolError } from '../../errors.ts';
import type { IdentityScope } from '../../identity/numeric-identity.ts';
import type { Family } from '../../net/address.ts';
import { Coverage } from '../coverage.ts';
import { asCacheRecord, type ListedRecord, Listing } from '../listing.ts';
import { pause } from '../pause.ts';
import type { Reading, ReadOptions, Source, SourceSink } from '../source.ts';
import { untilSynced } from '../until-synced.ts';
import { AgentClient } from './agent-client.ts';
import { requireSyncedAgent } from './agent-health.ts';
import { whyClaimsDoNotCount } from './agent-release.ts';
import { type AgentChange, EventTail } from './event-tail.ts';
import { readAgent } from './read-agent.ts';

export interface AgentSourceSetup {
  readonly name: string;
  readonly rank: string;
  readonly socket: string;
  /** Of the map that it is asked about; absent: the newest that it has. */
  readonly pin?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Between listings where the agent tells no events. */
const POLL_MS = 30_000;
const RETRY_MS = 1000;
const LISTING_TIMEOUT_MS = 90_000;

export class AgentSource implements Source {
  readonly name: string;
  readonly rank: string;
  readonly #pin: string | undefined;
  readonly #now: () => number;
  readonly #client: AgentClient;
  #coverage = new Coverage();
  #tail: EventTail | undefined;
  /** The last reading with what the tail has told since; undefined where there is no tail. */
  #records: Map<string, ListedRecord> | undefined;
  #readings = 0;

  constructor({ name, rank, socket, pin, now }: AgentSourceSetup) {
    this.name = name;
    this.rank = rank;
    this.#pin = pin;
    this.#now = now;
    this.#client = new AgentClient(socket);
  }

  speaksFor(scope: IdentityScope, family: Family, clusterId: number): boolean {
    return this.#coverage.has(scope, family, clusterId);
  }

  async read(visit: (record: ListedRecord) => void, options: ReadOptions): Promise<Reading> {
    const { signal, timeoutMs } = options;
    const request = { signal, timeoutMs };
    return untilSynced(async () => {
      await requireSyncedAgent(this.#client, request);
      const kept = options.isFresh ? undefined : this.#followed();
      const records = kept === undefined ? await this.#list(visit, request) : visitAll(kept, visit);
      return { revision: `${this.#client.socket} ${++this.#readings}`, records };
    }, options);
  }

  /** @returns why what it lists is no claim: its own placeholders may be among it */
  unsettled({ signal, timeoutMs }: ReadOptions): Promise<string | undefined> {
    return whyClaimsDoNotCount(this.#client, { signal, timeoutMs });
  }

  async follow(sink: SourceSink, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    const listing = new Listing(sink, this.#coverage);
    let isLost = false;
    while (!signal.aborted) {
      using tail = this.#newTail();
      try {
        const request = { signal, timeoutMs: LISTING_TIMEOUT_MS };
        await requireSyncedAgent(this.#client, request);
        const hasEvents = await tail.start(signal);
        listing.begin();
        const visit = (record: ListedRecord): void => listing.upsert(asCacheRecord(record));
        const { by } = await readAgent(this.#client, { pin: this.#pin, rank: this.rank, visit }, request);
        listing.end();
        isLost = false;
        // Its addresses are without cluster IDs, its events are not.
        if (hasEvents && by === 'map') {
          await this.#relay(tail, listing, sink, signal);
          if (!signal.aborted) sink.lost(tail.ended ?? 'its events have ended');
        } else await pause(POLL_MS, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof ToolError)) throw error;
        if (!isLost) sink.lost(error.message);
        isLost = true;
        await pause(RETRY_MS, signal);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#tail?.[Symbol.dispose]();
  }

  async #list(
    visit: (record: ListedRecord) => void,
    request: { readonly signal: AbortSignal | undefined; readonly timeoutMs: number },
  ): Promise<number> {
    this.#tail?.[Symbol.dispose]();
    const tail = this.#newTail();
    this.#tail = tail;
    this.#records = undefined;
    const hasEvents = await tail.start(request.signal);
    const coverage = new Coverage();
    const kept = new Map<string, ListedRecord>();
    const { by, records } = await readAgent(
      this.#client,
      {
        pin: this.#pin,
        rank: this.rank,
        visit: (record) => {
          coverage.add(record.key, record.identity);
          if (hasEvents) kept.set(record.key, record);
          visit(record);
        },
      },
      request,
    );
    this.#coverage = coverage;
    if (hasEvents && by === 'map') this.#records = kept;
    else tail[Symbol.dispose]();
    return records;
  }

  #newTail(): EventTail {
    return new EventTail(this.#client, { pin: this.#pin, now: this.#now });
  }

  /** What the agent has now, without a listing; undefined where only a listing tells. */
  #followed(): ReadonlyMap<string, ListedRecord> | undefined {
    const records = this.#records;
    if (records === undefined || this.#tail === undefined) return undefined;
    for (const change of this.#tail.take()) this.#apply(change, records);
    if (this.#tail.ended === undefined && records.size > 0) return records;
    this.#records = undefined;
    return undefined;
  }

  #apply(change: AgentChange, records: Map<string, ListedRecord>): void {
    if (change.kind === 'clear') records.clear();
    else if (change.kind === 'delete') records.delete(change.key);
    else {
      this.#coverage.add(change.key, change.value.identity);
      records.set(change.key, { key: change.key, source: this.rank, ...change.value });
    }
  }

  async #relay(tail: EventTail, listing: Listing, sink: SourceSink, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && tail.ended === undefined) {
      await tail.more(signal);
      for (const change of tail.take()) {
        if (change.kind === 'clear') listing.clear();
        else if (change.kind === 'delete') listing.delete(change.key);
        else listing.upsert(asCacheRecord({ key: change.key, source: this.rank, ...change.value }));
      }
      await sink.drained?.();
    }
  }
}

function visitAll(records: ReadonlyMap<string, ListedRecord>, visit: (record: ListedRecord) => void): number {
  for (const record of records.values()) visit(record);
  return records.size;
}
