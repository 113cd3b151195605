/**
 * The four kinds of line of a snapshot as values, and the one way in which they become text. The shapes are published
 * in schemas/snapshot-file.json, which is also what reading checks them with.
 */
import type { LayoutName } from '../ipcache/layout.ts';
import type { Family } from '../net/address.ts';

export const SNAPSHOT_KIND = 'ipcache-snapshot';
export const SNAPSHOT_VERSION = 1;

export interface SnapshotMap {
  readonly id: number;
  /** Absent for a map that was opened by its id. */
  readonly pin?: string;
  /** `btf`: none of the known ones; the map said itself where its fields are. */
  readonly layout: LayoutName | 'btf';
  /** Nothing in the map told the layouts of its value size apart. */
  readonly assumed?: true;
  readonly maxEntries: number;
  /** As given to BPF_MAP_CREATE. */
  readonly flags: number;
}

/** Where and when; what could not be found out is absent. */
export interface SnapshotHeader {
  readonly node?: string;
  readonly cluster?: string;
  /** 32 hexadecimal digits derived from the machine's id. */
  readonly machine?: string;
  readonly bootId?: string;
  readonly kernel?: string;
  /** RFC 3339, UTC, milliseconds. */
  readonly time: string;
  readonly map: SnapshotMap;
  readonly families: readonly Family[];
  readonly redacted?: true;
}

export interface SnapshotIdentity {
  readonly identity: number;
  /** `source:key=value` in canonical order; never empty. */
  readonly labels: readonly string[];
}

export interface SnapshotEnd {
  readonly identities: number;
  readonly entries: number;
  readonly complete: boolean;
  /** 64 hexadecimal digits; of every byte before the end line. */
  readonly sha256: string;
}

/** The first line, without its newline. */
export function formatHeader(header: SnapshotHeader): string {
  const { node, cluster, machine, bootId, kernel, time, map, families, redacted } = header;
  const { id, pin, layout, assumed, maxEntries, flags } = map;
  // JSON.stringify leaves out what is undefined and keeps the order written here.
  return JSON.stringify({
    kind: SNAPSHOT_KIND,
    schemaVersion: SNAPSHOT_VERSION,
    node,
    cluster,
    machine,
    bootId,
    kernel,
    time,
    map: { id, pin, layout, assumed, maxEntries, flags },
    families,
    redacted,
  });
}

export function formatIdentity({ identity, labels }: SnapshotIdentity): string {
  return JSON.stringify({ identity, labels });
}

export function formatEnd({ identities, entries, complete, sha256 }: SnapshotEnd): string {
  return JSON.stringify({ end: true, identities, entries, complete, sha256 });
}
