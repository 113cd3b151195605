import type { SnapshotHeader } from './lines.ts';
import type { Redactor } from './redactor.ts';

/** The header without names; machine and boot can still be told apart. */
export function redactHeader(header: SnapshotHeader, redactor: Redactor): SnapshotHeader {
  const { node, cluster, machine, bootId, ...rest } = header;
  const renamed = Object.entries({ node, cluster, machine, bootId }).flatMap(([field, text]) =>
    text === undefined ? [] : [[field, redactor.name(text)]],
  );
  return { ...Object.fromEntries(renamed), ...rest, redacted: true };
}
