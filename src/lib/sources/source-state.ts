/** What a source has said until now, for readings: the latest value of everything, and what that covers. */
import { prefixTextOf } from '../cache/cache-key.ts';
import { Metadata, type MetadataRemoval } from '../cache/metadata.ts';
import type { PrefixState } from '../cache/prefix-state.ts';
import type { ResourceInfo } from '../cache/resource-info.ts';
import { labelsModel } from '../identity/labels-format.ts';
import { Coverage } from './coverage.ts';
import type { SourceEvent, SourceRecord } from './source.ts';

const IGNORE = (): void => {};

export class SourceState {
  readonly #records = new Map<string, SourceRecord>();
  readonly #metadata = new Metadata();
  readonly coverage = new Coverage();

  apply(event: SourceEvent): void {
    switch (event.op) {
      case 'upsert':
        this.#records.set(recordKey(event.record.key, event.record.source), event.record);
        this.coverage.add(event.record.key, event.record.identity);
        break;
      case 'delete': {
        const key = recordKey(event.key, event.source);
        const present = this.#records.get(key);
        if (event.expectIdentity !== undefined && present?.identity !== event.expectIdentity) break;
        if (event.pod !== undefined && !isPod(present, event.pod)) break;
        this.#records.delete(key);
        break;
      }
      case 'upsertMetadata':
        this.#metadata.upsert(event.update, IGNORE);
        break;
      case 'removeMetadata':
        this.#removeMetadata(event.removal);
        break;
    }
  }

  #removeMetadata(removal: MetadataRemoval): void {
    const touched: PrefixState[] = [];
    this.#metadata.remove(removal, (state) => touched.push(state));
    for (const state of touched) this.#metadata.forget(state, removal.prefix);
  }

  /** @returns how many records there were */
  visit(visit: (record: SourceRecord) => void): number {
    let records = 0;
    for (const record of this.#records.values()) {
      visit(record);
      records++;
    }
    for (const { key, resources } of this.#metadata.states()) {
      for (const info of resources) {
        visit(metadataRecord(key, info));
        records++;
      }
    }
    return records;
  }
}

function metadataRecord(key: string, info: ResourceInfo): SourceRecord {
  return {
    key: prefixTextOf(key),
    source: info.source,
    resource: info.resource,
    labels: info.labels === undefined ? undefined : labelsModel(info.labels),
    hostIP: info.tunnelPeer === '' ? undefined : info.tunnelPeer,
    encryptKey: info.encryptKey,
    endpointFlags: Math.max(info.endpointFlags, 0),
  };
}

/** Two sources within one input are two owners, as in the cache. */
function recordKey(key: string, source: string): string {
  return `${key} ${source}`;
}

function isPod(record: SourceRecord | undefined, pod: { readonly namespace: string; readonly name: string }): boolean {
  return record?.pod?.namespace === pod.namespace && record.pod.name === pod.name;
}
