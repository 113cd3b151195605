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
  /** Key and source, with a space between them → the listing that told it last. One string and number a record. */
  readonly #records = new Map<string, number>();
  /** The same for prefix and resource. */
  readonly #metadata = new Map<string, number>();
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
      this.#records.set(`${key} ${source}`, this.#listing);
    } else if (event.op === 'upsertMetadata') {
      this.#metadata.set(`${formatPrefix(event.update.prefix)} ${event.update.resource}`, this.#listing);
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

function sweep(told: Map<string, number>, listing: number, takeBack: (key: string, owner: string) => void): void {
  for (const [name, last] of told) {
    if (last === listing) continue;
    told.delete(name);
    const space = name.indexOf(' ');
    takeBack(name.slice(0, space), name.slice(space + 1));
  }
}
