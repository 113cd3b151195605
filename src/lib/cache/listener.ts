/** What the cache tells those who follow it, above all the listener that writes the map. */

import type { EntryChange } from './entry-change.ts';

export interface PodMetadata {
  readonly namespace: string;
  readonly name: string;
  /** Port name → port and protocol; absent when the pod has none. */
  readonly namedPorts?: NamedPorts;
}

export type NamedPorts = Readonly<Record<string, NamedPort>>;

export interface NamedPort {
  readonly port: number;
  /** Upper case, `TCP`; `ANY` for every protocol. */
  readonly protocol: string;
}

/** What one key has. */
export interface CacheEntry {
  readonly identity: number;
  readonly source: string;
  /** Where the address lives: canonical text. */
  readonly hostIP: string | undefined;
  readonly encryptKey: number;
  /** Bits as in the map: skip tunnel 1, remote cluster 8. */
  readonly endpointFlags: number;
  readonly pod: PodMetadata | undefined;
}

export type IpcacheEvent =
  | {
      readonly kind: 'upsert';
      /** `ADDR/LEN[@CLUSTER]`; read it with `prefixOf`, which keeps v4-mapped addresses IPv6. */
      readonly prefix: string;
      readonly entry: CacheEntry;
      /** What the prefix had before; undefined when it was not there. */
      readonly old: CacheEntry | undefined;
    }
  | {
      readonly kind: 'delete';
      readonly prefix: string;
      /** What the prefix had. */
      readonly entry: CacheEntry;
    };

export interface IpcacheListener {
  /** Called in order, from within the change; must not change the cache. */
  onIpcacheEvent(event: IpcacheEvent): void;
  /** Called instead, where a listener needs no object that it can keep: the change is only valid during the call. */
  onEntryChange?(change: EntryChange): void;
}
