/** A snapshot as a source: the desired state is what a map once had. It never changes while it is followed. */
import { statSync } from 'node:fs';
import { UnreachableError } from '../errors.ts';
import type { IdentityScope } from '../identity/numeric-identity.ts';
import { scopeOf } from '../identity/numeric-identity.ts';
import type { Family } from '../net/address.ts';
import type { EntryRow } from '../snapshot/entry-row.ts';
import { visitRows } from '../snapshot/read-rows.ts';
import { openSnapshot, type SnapshotReader } from '../snapshot/snapshot-reader.ts';
import { Coverage } from './coverage.ts';
import { PrefixTable } from './prefix-table.ts';
import type { Reading, ReadOptions, Source, SourceRecord, SourceSink } from './source.ts';

interface PreparedReading {
  readonly reading: Reading;
  readonly prefixes: PrefixTable;
  readonly stamp: string | undefined;
}

export class SnapshotSource implements Source {
  readonly name: string;
  readonly rank: string;
  readonly #path: string;
  #coverage = new Coverage();
  /** Of the file, before it was read last. */
  #stamp: string | undefined;
  /** A reading that was begun before anybody asked for it; undefined when it failed, which the next one will say. */
  #prepared: Promise<PreparedReading | undefined> | undefined;

  constructor({ name, rank, path }: { readonly name: string; readonly rank: string; readonly path: string }) {
    this.name = name;
    this.rank = rank;
    this.#path = path;
  }

  speaksFor(scope: IdentityScope, family: Family, clusterId: number): boolean {
    return this.#coverage.has(scope, family, clusterId);
  }

  /** The file is the same one, and nobody has written to it. */
  isUnchanged(): boolean {
    return this.#stamp !== undefined && this.#stamp === stampOf(this.#path);
  }

  read(visit: (record: SourceRecord & { readonly identity: number }) => void, options: ReadOptions): Promise<Reading> {
    return this.#read((row, reader) => {
      visit(recordOf(row, this.rank, reader.identities.labels(row.identity)));
    }, options);
  }

  prepare(options: ReadOptions): void {
    const prefixes = new PrefixTable();
    this.#prepared = this.#read((row) => prefixes.add(row.sortKey), options).then(
      (reading) => ({ reading, prefixes, stamp: this.#stamp }),
      () => undefined,
    );
  }

  async readPrefixes(visit: (sortKey: Uint8Array) => void, options: ReadOptions): Promise<Reading> {
    const prepared = await this.#prepared;
    this.#prepared = undefined;
    // The same file, and nobody has written to it: read now it would say the same.
    if (prepared?.stamp !== undefined && prepared.stamp === stampOf(this.#path)) {
      prepared.prefixes.visit(visit);
      return prepared.reading;
    }
    return this.#read((row) => visit(row.sortKey), options);
  }

  /** Dead and catch-all keys are no prefixes and are passed over. */
  async #read(visit: (row: EntryRow, reader: SnapshotReader) => void, { signal }: ReadOptions): Promise<Reading> {
    const stamp = stampOf(this.#path);
    await using reader = await openSnapshot(this.#path);
    const coverage = new Coverage();
    let records = 0;
    await visitRows(reader, (row) => {
      if (row.rawKey !== '') return;
      if ((++records & 0xfff) === 0) signal?.throwIfAborted();
      coverage.addKind(scopeOf(row.identity), row.family, row.clusterId);
      visit(row, reader);
    });
    if (!reader.end.complete) throw this.#incomplete();
    this.#coverage = coverage;
    this.#stamp = stamp;
    return { revision: reader.end.sha256, records };
  }

  async follow(sink: SourceSink, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    await this.read(
      ({ flags, tunnelEndpoint, ...record }) => {
        // What a map has as a tunnel came from a host; which flags follow from that is for the listener to say.
        const endpointFlags = (flags ?? 0) & ENDPOINT_FLAGS;
        sink.event({ op: 'upsert', record: { ...record, hostIP: tunnelEndpoint, endpointFlags } });
      },
      { signal, timeoutMs: 0 },
    );
    sink.synced();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#prepared;
  }

  #incomplete(): UnreachableError {
    return new UnreachableError(`Cannot use snapshot ${this.#path} as a source: it does not cover its map`, {
      code: 'SOURCE_NOT_SYNCED',
      hint: 'take the snapshot again until it is complete',
      operands: { file: this.#path },
    });
  }
}

/** Which file it is and when it changed last; undefined where there is none. A change always moves the ctime. */
function stampOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev} ${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`;
}

/** Skip tunnel and remote cluster; the other bits follow from the tunnel. */
const ENDPOINT_FLAGS = 9;

function recordOf(
  row: EntryRow,
  source: string,
  labels: readonly string[] | undefined,
): SourceRecord & { readonly identity: number } {
  return {
    key: row.prefixText(),
    identity: row.identity,
    source,
    labels,
    tunnelEndpoint: row.tunnelText(),
    encryptKey: row.encryptKey,
    flags: row.flags,
  };
}
