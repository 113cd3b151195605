/** Everything that goes into a snapshot file, from a live map or from another snapshot, redacted or not. */
import type { SnapshotIdentity } from './lines.ts';
import type { LiveSnapshot } from './live-snapshot.ts';
import { readTable, snapshotLayout } from './read-table.ts';
import { redactHeader } from './redact-header.ts';
import { redactTable } from './redact-table.ts';
import type { Redactor } from './redactor.ts';
import type { SnapshotReader } from './snapshot-reader.ts';
import { type MakeLineFormat, tableLines } from './table-lines.ts';
import type { SnapshotContent } from './write-snapshot.ts';

/** The content of a live map. */
export function liveContent(live: LiveSnapshot, make: MakeLineFormat, redactor?: Redactor): SnapshotContent {
  const { header, identities, table, layout, complete } = live;
  const whether = { complete: () => complete };
  if (redactor === undefined) return { ...whether, header, identities, entries: tableLines(table, layout, make) };
  return {
    ...whether,
    header: redactHeader(header, redactor),
    identities: redactIdentities(identities, redactor),
    entries: tableLines(redactTable(table, layout, redactor.addresses), layout, make),
  };
}

/**
 * The content of another snapshot, as it is or redacted.
 * @throws {MalformedError} also later, while entries are read
 */
export async function convertedContent(
  reader: SnapshotReader,
  make: MakeLineFormat,
  redactor?: Redactor,
): Promise<SnapshotContent> {
  const whether = { complete: () => reader.end.complete };
  const { header, identities } = reader;
  if (redactor === undefined) return { ...whether, header, identities, entries: reader.entryBlocks() };
  const layout = snapshotLayout(header.map);
  const table = redactTable(await readTable(reader), layout, redactor.addresses);
  return {
    ...whether,
    header: redactHeader(header, redactor),
    identities: redactIdentities(identities, redactor),
    entries: tableLines(table, layout, make),
  };
}

function* redactIdentities(
  identities: Iterable<SnapshotIdentity>,
  redactor: Redactor,
): Generator<SnapshotIdentity, void> {
  for (const { identity, labels } of identities) yield { identity, labels: redactor.labels(labels) };
}
