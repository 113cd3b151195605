import type { SnapshotHeader } from '../snapshot/lines.ts';
import { escapeText } from './escape.ts';
import type { ReportView } from './view.ts';

export interface SnapshotModel {
  readonly header: SnapshotHeader;
  /** Where it was, or would have been, written. */
  readonly file: string;
  /** The snapshot it was made from; absent: from the map. */
  readonly from?: string | undefined;
  readonly complete: boolean;
  readonly changed: boolean;
  readonly dryRun: boolean;
  readonly entries: number;
  readonly localEntries: number;
  readonly identities: number;
  /** Local and remote-node numbers without labels; null when nobody looked. */
  readonly unlabelled: number | null;
  /** Older snapshots that --keep removed. */
  readonly removed: readonly string[];
}

/** What `ipc snapshot FILE` did. */
export const snapshotView: ReportView<SnapshotModel> = {
  kind: 'snapshot',
  json: ({ header: { map, redacted }, file, from, complete, changed, dryRun, removed, ...counts }) => ({
    map: { id: map.id, pin: map.pin, layout: map.layout },
    file,
    from,
    redacted,
    complete,
    changed,
    dryRun,
    summary: {
      entries: counts.entries,
      localEntries: counts.localEntries,
      identities: counts.identities,
      unlabelled: counts.unlabelled,
      removed: removed.length,
    },
    items: removed.map((path) => ({ file: path, reason: 'kept-enough', done: true })),
  }),
  *text({ header, file, from, complete, dryRun, entries, localEntries, identities, unlabelled, removed }, paint) {
    const { id, pin } = header.map;
    const source = from ?? pin ?? `map id ${id}`;
    yield `${dryRun ? 'would write' : 'wrote'} ${paint.bold(escapeText(file))} from ${escapeText(source)}`;
    yield `  ${entries} entries, ${localEntries} of them local; ${identities} identities with labels`;
    if (unlabelled !== null && unlabelled > 0) yield paint.warning(`  ${unlabelled} numbers of the map without labels`);
    if (!complete) yield paint.bad('  incomplete: the walk did not cover the map');
    for (const path of removed) yield paint.dim(`  removed ${escapeText(path)}`);
  },
};
