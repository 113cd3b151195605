/** How the plan or the result of `ipc restore` looks. */
import type { PlanItem } from '../change/plan-item.ts';
import { escapeText } from './escape.ts';
import { itemJson, itemLines } from './plan-view.ts';
import type { ReportView } from './view.ts';

export interface RestoreModel {
  /** The map that is written; without an id where it would be made. */
  readonly map: {
    readonly id?: number;
    readonly pin: string;
    readonly layout: string;
    readonly owner: 'agent' | 'ipc' | 'nobody' | 'unknown';
    readonly programs: number | null;
  };
  /** Where it was read from. */
  readonly from: {
    readonly id?: number | undefined;
    readonly pin?: string | undefined;
    readonly snapshot?: string;
    readonly layout?: string;
  };
  /** What was chosen for a map that was made. */
  readonly made?: { readonly how: 'new' | 'recreated'; readonly maxEntries: number; readonly flags: number };
  readonly complete: boolean;
  readonly changed: boolean;
  readonly dryRun: boolean;
  /** What an agent would do, and not `ipc`. */
  readonly asAgent?: boolean;
  readonly summary: Readonly<Record<string, number | null>>;
  readonly skippedByRule: Readonly<Record<string, number>>;
  readonly items: readonly PlanItem[];
  readonly warnings: readonly string[];
  /** The agent's checkpoint, where it was written. */
  readonly allocatorState?: {
    readonly path: string;
    readonly identities: number;
    readonly added: number;
    readonly movedTo?: string;
  };
  readonly backup?: string | undefined;
}

/** More than anybody reads; JSON has all of them. */
const MOST_LINES = 1000;

export const restoreView: ReportView<RestoreModel> = {
  kind: 'restore',
  json: ({ map, from, made, complete, changed, dryRun, asAgent, summary, skippedByRule, items, ...rest }) => ({
    map,
    from,
    made,
    complete,
    changed,
    dryRun,
    asAgent,
    summary,
    skippedByRule,
    items: items.map(itemJson),
    ...(rest.warnings.length > 0 && { warnings: rest.warnings }),
    allocatorState: rest.allocatorState,
    backup: rest.backup,
  }),
  *text(model, paint) {
    const { map, from, made, summary, skippedByRule, items, warnings, dryRun, asAgent } = model;
    const source = from.snapshot ?? from.pin ?? (from.id === undefined ? map.pin : `map id ${from.id}`);
    yield paint.dim(escapeText(`from ${source}, layout ${from.layout ?? map.layout}`));
    if (!asAgent) {
      const id = map.id === undefined ? 'to be made' : `id ${map.id}`;
      yield paint.dim(escapeText(`into ${map.pin} (${id}, layout ${map.layout}, owner ${map.owner})`));
    }
    if (made !== undefined) {
      yield `${made.how} map: ${made.maxEntries} entries, flags 0x${made.flags.toString(16)}, layout ${map.layout}`;
    }
    for (const item of items.slice(0, MOST_LINES)) yield* itemLines(item, dryRun, paint);
    if (items.length > MOST_LINES) yield `… and ${items.length - MOST_LINES} more: --json lists them all`;
    yield countLine(asAgent ? 'an agent would leave' : dryRun ? 'plan' : 'done', summary);
    if (Object.keys(skippedByRule).length > 0) yield countLine('skipped by rule', skippedByRule);
    if (dryRun) yield 'nothing was changed';
    for (const warning of warnings) yield paint.warning(`warning: ${escapeText(warning)}`);
    if (model.allocatorState !== undefined) {
      const { path, identities, movedTo } = model.allocatorState;
      yield escapeText(`allocator checkpoint ${path}: ${identities} identities`);
      if (movedTo !== undefined) yield escapeText(`the damaged one is ${movedTo}`);
    }
    if (model.backup !== undefined) yield escapeText(`backup ${model.backup}`);
  },
};

function countLine(title: string, counts: Readonly<Record<string, number | null>>): string {
  const parts = Object.entries(counts).map(([name, count]) => `${name} ${count ?? 'unknown'}`);
  return `${title}: ${parts.join(', ')}`;
}
