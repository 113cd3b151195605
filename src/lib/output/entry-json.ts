/** The JSON of one entry, field by field in the order of schemas/entry.json. */

import { scopeOf } from '../identity/numeric-identity.ts';
import type { IpcacheEntry } from '../ipcache/entry.ts';

/** Where the labels of an entry were found. */
export interface EntryLabels {
  /** `source:key=value`, canonical order. */
  readonly labels: readonly string[];
  readonly labelsFrom: 'reserved' | 'allocator' | 'snapshot' | 'listen' | 'agent' | 'guessed';
}

/** What an entry does not know itself. */
export interface EntryContext {
  readonly labels?: EntryLabels | undefined;
  /** Hexadecimal digits, with --raw. */
  readonly raw?: { readonly key: string; readonly value: string } | undefined;
}

export interface EntryJson {
  readonly prefix: string;
  readonly clusterId?: number;
  readonly family: string;
  readonly identity: number;
  readonly scope: string;
  readonly labels?: readonly string[];
  readonly labelsFrom?: string;
  readonly tunnelEndpoint?: string;
  readonly encryptKey: number;
  readonly flags: readonly string[];
  readonly warnings?: readonly string[];
  readonly key?: string;
  readonly value?: string;
}

/** The entry as the object that is printed; what has nothing to say is absent. */
export function entryJson(entry: IpcacheEntry, context: EntryContext = {}): EntryJson {
  return {
    prefix: entry.prefix,
    ...(entry.clusterId !== 0 && { clusterId: entry.clusterId }),
    family: entry.family,
    identity: entry.identity,
    scope: scopeOf(entry.identity),
    ...context.labels,
    ...(entry.tunnelEndpoint !== undefined && { tunnelEndpoint: entry.tunnelEndpoint }),
    encryptKey: entry.encryptKey,
    flags: entry.flagNames,
    ...(entry.warnings.length > 0 && { warnings: entry.warnings }),
    ...context.raw,
  };
}
