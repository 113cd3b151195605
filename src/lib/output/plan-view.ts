/** How the plan or the result of a command that writes looks. */
import type { PlanItem, PlanMap } from '../change/plan-item.ts';
import { hexOf } from '../ipcache/key.ts';
import { entryJson } from './entry-json.ts';
import { escapeText } from './escape.ts';
import { identityWords } from './identity-words.ts';
import type { Paint } from './paint.ts';
import { policyMapWords } from './policy-map-words.ts';
import { JsonItems, type JsonObject, type ReportView } from './view.ts';

export interface PlanModel {
  readonly map: PlanMap;
  /** False: something that should have been done was not. */
  readonly complete: boolean;
  readonly changed: boolean;
  readonly dryRun: boolean;
  readonly summary: Readonly<Record<string, number | null>>;
  /** May be made while they are printed. */
  readonly items: Iterable<PlanItem> & { readonly length: number };
  readonly warnings: readonly string[];
  /** How many items are shown to people; absent: all. */
  readonly shown?: number | undefined;
  /** The file that holds what was there before. */
  readonly backup?: string | undefined;
  /** The command that takes the change back. */
  readonly undo?: string | undefined;
}

/** @param kind the command */
export function planView(kind: string): ReportView<PlanModel> {
  return {
    kind,
    json: ({ map, complete, changed, dryRun, summary, items, warnings, backup, undo }) => ({
      map: { ...map },
      complete,
      changed,
      dryRun,
      summary,
      items: new JsonItems(() => jsonOf(items)),
      ...(warnings.length > 0 && { warnings }),
      backup,
      undo,
    }),
    *text({ map, dryRun, items, warnings, summary, backup, undo, shown = items.length }, paint) {
      const layout = `id ${map.id}, layout ${map.layout}, owner ${map.owner}`;
      yield paint.dim(escapeText(`map ${map.pin ?? `id:${map.id}`} (${layout})`));
      let left = shown;
      for (const item of items) {
        if (left-- === 0) break;
        yield* itemLines(item, dryRun, paint);
      }
      if (items.length > shown) yield paint.dim(`  … and ${items.length - shown} more`);
      yield summaryLine(summary, dryRun);
      for (const warning of warnings) yield paint.warning(`warning: ${escapeText(warning)}`);
      if (backup !== undefined) yield `backup ${escapeText(backup)}`;
      if (undo !== undefined) yield `undo with: ${escapeText(undo)}`;
    },
  };
}

/** An item as JSON prints it. */
export function* jsonOf(items: Iterable<PlanItem>): Iterable<JsonObject> {
  for (const item of items) yield itemJson(item);
}

/** An item as JSON prints it. */
export function itemJson(item: PlanItem): JsonObject {
  const { action, prefix, identity, reason, fallsTo, policyMaps, labels, labelsFrom, before, key, value, done } = item;
  return {
    action,
    prefix,
    identity,
    reason,
    fallsTo,
    policyMaps,
    labels,
    labelsFrom,
    before: before && entryJson(before),
    key: key && hexOf(key),
    value: value && hexOf(value),
    done,
  };
}

const MARKS: Readonly<Record<PlanItem['action'], string>> = {
  add: '+',
  update: '~',
  delete: '-',
  keep: '=',
  skip: ' ',
  conflict: '!',
};

/** The lines of an item for people. */
export function* itemLines(item: PlanItem, dryRun: boolean, paint: Paint): Iterable<string> {
  const { action, prefix, identity, reason, before, key, value, done } = item;
  const number = identity === undefined ? '' : ` → ${identity} (${identityWords(identity)})`;
  const was = before === undefined || before.identity === identity ? '' : `, was ${before.identity}`;
  const falls = action === 'delete' ? `; falls to ${item.fallsTo === undefined ? 'nothing' : `→ ${item.fallsTo}`}` : '';
  const undone = done || dryRun || action === 'keep' || action === 'skip' ? '' : paint.bad(' not done');
  const text = `${number}${was}: ${escapeText(reason)}${falls}${policyMapWords(item.policyMaps)}${undone}`;
  yield `${MARKS[action]} ${paint.bold(escapeText(prefix))}${text}`;
  if (!dryRun || key === undefined) return;
  yield `    key    ${spaced(key)}`;
  if (value !== undefined) yield `    value  ${spaced(value)}`;
}

function summaryLine(summary: PlanModel['summary'], dryRun: boolean): string {
  const parts = Object.entries(summary).map(([name, count]) => `${name} ${count ?? 'unknown'}`);
  return `${dryRun ? 'plan' : 'done'}: ${parts.join(', ')}${dryRun ? ' (nothing was changed)' : ''}`;
}

function spaced(bytes: Uint8Array): string {
  return hexOf(bytes).replace(/..(?!$)/g, '$& ');
}
