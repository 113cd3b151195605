import type { LoopSummary } from '../listen/loop-setup.ts';
import { escapeText } from './escape.ts';
import type { ReportView } from './view.ts';

/** What a run of `ipc listen` did, once it has ended. */
export const listenView: ReportView<LoopSummary> = {
  kind: 'listen',
  json: ({ map, ...counts }) => ({ map, complete: counts.pending === 0, summary: counts }),
  *text({ map, ...counts }, paint) {
    const { events, rejected, badLines, written, deleted, pending, entries } = counts;
    yield `${paint.bold(escapeText(map.pin))}: ${entries} entries after ${events} events`;
    yield `  ${written} written, ${deleted} deleted; ${rejected} events not used, ${badLines} bad lines`;
    if (pending > 0) yield paint.warning(`  ${pending} changes are not in the map; they are remembered as pending`);
  },
};
