/** A running `ipc listen` as a source: what its cache has, from its control socket. */
import { ToolError, UnreachableError } from '../../errors.ts';
import type { IdentityScope } from '../../identity/numeric-identity.ts';
import type { Family } from '../../net/address.ts';
import { AgentClient, IPC_LISTEN } from '../agent/agent-client.ts';
import { visitObjects } from '../agent/visit-objects.ts';
import { Coverage } from '../coverage.ts';
import { type ListedRecord, Listing } from '../listing.ts';
import { pause } from '../pause.ts';
import type { Reading, ReadOptions, Source, SourceSink } from '../source.ts';
import { untilSynced } from '../until-synced.ts';

export interface ListenSourceSetup {
  readonly name: string;
  readonly rank: string;
  readonly socket: string;
}

/** Its control socket tells no changes. */
const POLL_MS = 2000;
const RETRY_MS = 1000;
const DUMP_TIMEOUT_MS = 90_000;
const PATH = '/dump';

export class ListenSource implements Source {
  readonly name: string;
  readonly rank: string;
  readonly #client: AgentClient;
  #coverage = new Coverage();
  #readings = 0;

  constructor({ name, rank, socket }: ListenSourceSetup) {
    this.name = name;
    this.rank = rank;
    this.#client = new AgentClient(socket, IPC_LISTEN);
  }

  speaksFor(scope: IdentityScope, family: Family, clusterId: number): boolean {
    return this.#coverage.has(scope, family, clusterId);
  }

  /** Of what it has from several sources, the one that won; placeholders have the source `restored`. */
  async read(visit: (record: ListedRecord) => void, options: ReadOptions): Promise<Reading> {
    const { signal, timeoutMs } = options;
    const coverage = new Coverage();
    const note = (record: ListedRecord): void => {
      coverage.add(record.key, record.identity);
      visit(record);
    };
    const records = await untilSynced(() => this.#dump(note, { signal, timeoutMs }), options);
    this.#coverage = coverage;
    return { revision: `${this.#client.socket} ${++this.#readings}`, records };
  }

  async follow(sink: SourceSink, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    const listing = new Listing(sink, this.#coverage);
    let isLost = false;
    while (!signal.aborted) {
      try {
        listing.begin();
        await this.#dump((record) => listing.upsert(record), { signal, timeoutMs: DUMP_TIMEOUT_MS });
        listing.end();
        isLost = false;
        await pause(POLL_MS, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof ToolError)) throw error;
        if (!isLost) sink.lost(error.message);
        isLost = true;
        await pause(RETRY_MS, signal);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #dump(
    visit: (record: ListedRecord) => void,
    request: { readonly signal: AbortSignal | undefined; readonly timeoutMs: number },
  ): Promise<number> {
    let records = 0;
    let queued: unknown;
    const take = (object: Readonly<Record<string, unknown>>): void => {
      if (object.kind === 'listen-dump') {
        if (object.synced !== true) throw this.#notSynced('its own sources have not been complete yet');
      } else if (object.end === true) queued = object.queued;
      else if (object.shadowed !== true) {
        const record = recordOf(object);
        if (record === undefined) throw this.#client.malformed(PATH, 'an entry has no prefix or no identity');
        records++;
        visit(record);
      }
    };
    await visitObjects(this.#client, { path: PATH, depth: 1, visit: take }, request);
    if (queued === undefined) throw this.#client.malformed(PATH, 'it has no end');
    // What waits to be resolved may be an entry that is not in its cache yet.
    if (queued !== 0) throw this.#notSynced(`${String(queued)} prefixes wait to be resolved`);
    return records;
  }

  #notSynced(state: string): UnreachableError {
    return new UnreachableError(`Cannot use ipc listen at ${this.#client.socket} as a source: ${state}`, {
      code: 'SOURCE_NOT_SYNCED',
      hint: 'ipc status says which source it waits for',
      operands: { path: this.#client.socket },
    });
  }
}

function recordOf(object: Readonly<Record<string, unknown>>): ListedRecord | undefined {
  const { prefix, endpoint, identity, source } = object;
  if (typeof prefix !== 'string' || typeof identity !== 'number' || typeof source !== 'string') return undefined;
  // The fields are those of a record.
  const { labels, hostIP, encryptKey, endpointFlags, pod } = object as Partial<ListedRecord>;
  return {
    key: endpoint === true ? prefix.replace(/\/\d+/, '') : prefix,
    identity,
    source,
    labels,
    hostIP,
    encryptKey,
    endpointFlags,
    pod,
  };
}
