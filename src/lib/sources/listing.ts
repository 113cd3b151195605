/**
 * Turns listings, made again and again, into changes: a record that is the same as before is not told again, and what a
 * complete listing does not have is taken back.
 */
import type { Coverage } from './coverage.ts';
import type { SourceRecord, SourceSink } from './source.ts';

export type ListedRecord = SourceRecord & { readonly identity: number };

interface Told {
  readonly text: string;
  readonly source: string;
  listing: number;
}

export class Listing {
  readonly #sink: SourceSink;
  readonly #coverage: Coverage;
  readonly #told = new Map<string, Told>();
  #listing = 0;

  constructor(sink: SourceSink, coverage: Coverage) {
    this.#sink = sink;
    this.#coverage = coverage;
  }

  begin(): void {
    this.#listing++;
  }

  upsert(record: ListedRecord): void {
    const { key, source, identity } = record;
    const text = JSON.stringify(record);
    const told = this.#told.get(key);
    if (told?.text === text) {
      told.listing = this.#listing;
      return;
    }
    if (told !== undefined && told.source !== source) this.#takeBack(key, told);
    this.#told.set(key, { text, source, listing: this.#listing });
    this.#coverage.add(key, identity);
    this.#sink.event({ op: 'upsert', record });
  }

  delete(key: string): void {
    const told = this.#told.get(key);
    if (told !== undefined) this.#takeBack(key, told);
  }

  clear(): void {
    for (const [key, told] of this.#told) this.#takeBack(key, told);
  }

  /** The listing is complete. */
  end(): void {
    for (const [key, told] of this.#told) if (told.listing !== this.#listing) this.#takeBack(key, told);
    this.#sink.synced();
  }

  #takeBack(key: string, { source }: Told): void {
    this.#told.delete(key);
    this.#sink.event({ op: 'delete', key, source });
  }
}

/** Flags that an endpoint asks for: skip tunnel, remote cluster; the other bits follow from the tunnel. */
const ENDPOINT_FLAGS = 9;

/** As a cache takes it: what a map has as a tunnel came from a host, and which flags follow is for the listener to say. */
export function asCacheRecord({ flags, tunnelEndpoint, ...record }: ListedRecord): ListedRecord {
  return {
    ...record,
    hostIP: record.hostIP ?? tunnelEndpoint,
    endpointFlags: record.endpointFlags ?? (flags ?? 0) & ENDPOINT_FLAGS,
  };
}
