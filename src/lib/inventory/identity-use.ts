/** Which numbers stand in an ipcache, how often, and for which prefixes. */
import { walkMap } from '../bpf/walk.ts';
import { decodeEntry } from '../ipcache/entry.ts';
import type { IpcacheMap } from '../ipcache/ipcache-map.ts';
import { listEntries } from '../ipcache/list-entries.ts';
import { decodeValue } from '../ipcache/remote-endpoint-info.ts';
import { visitRows } from '../snapshot/read-rows.ts';
import type { SnapshotReader } from '../snapshot/snapshot-reader.ts';

/** What was counted. */
export class IdentityUse {
  /** Number → entries that have it. */
  readonly counts = new Map<number, number>();
  /** Prefixes of the numbers wanted, in the order they came. */
  readonly prefixes = new Map<number, string[]>();
  /** Why not every entry was seen; absent when all were. */
  incomplete: string | undefined;
  readonly #wanted: (id: number) => boolean;

  /** @param wanted the numbers whose prefixes are kept, too */
  constructor(wanted: (id: number) => boolean) {
    this.#wanted = wanted;
  }

  add(id: number, prefix: () => string): void {
    this.counts.set(id, (this.counts.get(id) ?? 0) + 1);
    if (!this.#wanted(id)) return;
    const known = this.prefixes.get(id);
    if (known === undefined) this.prefixes.set(id, [prefix()]);
    else known.push(prefix());
  }

  /** 0 for a number that stands nowhere. */
  count(id: number): number {
    return this.counts.get(id) ?? 0;
  }
}

/** Walks the map once. */
export async function readMapUse(
  { map, layout }: IpcacheMap,
  wanted: (id: number) => boolean,
  signal: AbortSignal | undefined,
): Promise<IdentityUse> {
  const use = new IdentityUse(wanted);
  const listing = await listEntries(walkMap(map, { signal }), {
    valueBytes: map.info.valueBytes,
    onEntry(keys, keyOffset, values, valueOffset) {
      const prefix = () => decodeEntry(layout, { keys, keyOffset, values, valueOffset }).prefix;
      use.add(decodeValue(layout, values, valueOffset).identity, prefix);
    },
  });
  if (!listing.complete) use.incomplete = `Cannot list all of ${map.label}: ${listing.reason}`;
  return use;
}

/** Reads a snapshot to its end. @throws {MalformedError} */
export async function readSnapshotUse(reader: SnapshotReader, wanted: (id: number) => boolean): Promise<IdentityUse> {
  const use = new IdentityUse(wanted);
  await visitRows(reader, (row) => use.add(row.identity, () => row.prefixText()));
  if (!reader.end.complete)
    use.incomplete = `Cannot list all entries of ${reader.file}: it was written from an incomplete walk`;
  return use;
}
