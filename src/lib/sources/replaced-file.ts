/**
 * Turns the contents of a file that may be replaced as a whole into changes: what the new one does not have is taken
 * back when its listing ends.
 */
import { prefixOf } from '../cache/cache-key.ts';
import { INFO_KINDS } from '../cache/resource-info.ts';
import { formatPrefix } from '../net/prefix.ts';
import type { Coverage } from './coverage.ts';
import type { SourceEvent, SourceSink } from './source.ts';

export class ReplacedFile {
  readonly sink: SourceSink;
  readonly #coverage: Coverage;
  /** Source → key → the listing that told it last: of half a million records none has a string of its own. */
  readonly #records: Told = new Map();
  /** The same for resource and prefix. */
  readonly #metadata: Told = new Map();
  #listing = 0;

  constructor(sink: SourceSink, coverage: Coverage) {
    this.sink = sink;
    this.#coverage = coverage;
  }

  begin(): void {
    this.#listing++;
  }

  event(event: SourceEvent): void {
    if (event.op === 'upsert') {
      const { key, source, identity } = event.record;
      this.#coverage.add(key, identity);
      note(this.#records, source, key, this.#listing);
    } else if (event.op === 'upsertMetadata') {
      note(this.#metadata, event.update.resource, formatPrefix(event.update.prefix), this.#listing);
    }
    // What an event took back stays in the lists: to take it back again later does no harm.
    this.sink.event(event);
  }

  /** The listing is complete. */
  end(): void {
    sweep(this.#records, this.#listing, (key, source) => this.sink.event({ op: 'delete', key, source }));
    sweep(this.#metadata, this.#listing, (key, resource) => {
      this.sink.event({ op: 'removeMetadata', removal: { prefix: prefixOf(key), resource, what: INFO_KINDS } });
    });
    this.sink.synced();
  }
}

type Told = Map<string, Map<string, number>>;

function note(told: Told, owner: string, key: string, listing: number): void {
  let keys = told.get(owner);
  if (keys === undefined) {
    keys = new Map();
    told.set(owner, keys);
  }
  keys.set(key, listing);
}

function sweep(told: Told, listing: number, takeBack: (key: string, owner: string) => void): void {
  for (const [owner, keys] of told) {
    for (const [key, last] of keys) {
      if (last === listing) continue;
      keys.delete(key);
      takeBack(key, owner);
    }
  }
}
