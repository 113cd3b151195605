/** How the answer of `ipc get` looks. */

import type { IpcacheEntry } from '../ipcache/entry.ts';
import type { Explanation } from '../ipcache/explain-prefix.ts';
import { type EntryLabels, entryJson } from './entry-json.ts';
import { escapeText } from './escape.ts';
import { identityWords } from './identity-words.ts';
import type { Paint } from './paint.ts';
import { renderTable } from './table.ts';
import type { Column, JsonObject, ListView, ReportView } from './view.ts';
import { type Why, whyJson, whyLines } from './why-view.ts';

export interface GetModel {
  /** As asked for, canonical. */
  readonly query: string;
  readonly map: {
    readonly id: number;
    readonly pin?: string | undefined;
    readonly layout: string;
    /** Loaded programs that hold it; null where they could not be listed. */
    readonly programs: number | null;
  };
  readonly explanation: Explanation;
  /** What the kernel finds; with --exact only the entry of exactly that prefix. */
  readonly match: IpcacheEntry | undefined;
  /** Sentences about what the reader should not overlook. */
  readonly warnings: readonly string[];
  readonly labelsOf: (identity: number) => EntryLabels | undefined;
  /** With --why. */
  readonly why?: Why | undefined;
}

interface Hidden {
  readonly entry: IpcacheEntry;
  readonly hides: IpcacheEntry | undefined;
}

export const getView: ReportView<GetModel> = {
  kind: 'get',
  json: (model) => ({ map: model.map, complete: model.explanation.settled, ...answerJson(model) }),
  *text(model, paint) {
    const { map, match, query } = model;
    const programs = map.programs === null ? 'programs unknown' : `${map.programs} programs`;
    yield paint.dim(escapeText(`map ${map.pin ?? `id:${map.id}`} (id ${map.id}, layout ${map.layout}, ${programs})`));
    if (match === undefined) {
      if (model.why !== undefined) yield* whyLines(model.why);
      return;
    }
    const labels = model.labelsOf(match.identity);
    yield `${query} matches ${paint.bold(match.prefix)}: identity ${match.identity} (${identityWords(match.identity)})`;
    if (labels !== undefined) yield `labels from ${labels.labelsFrom}: ${escapeText(labels.labels.join(' '))}`;
    yield* chainLines(model, paint);
    for (const warning of model.warnings) yield paint.warning(`warning: ${escapeText(warning)}`);
    if (model.why !== undefined) yield* whyLines(model.why);
  },
};

/** One line for each address of `ipc get -`. */
export const getLineView: ListView<GetModel> = {
  columns: [
    { title: 'QUERY', value: ({ query }) => query },
    { title: 'PREFIX', value: ({ match }) => match?.prefix ?? '-' },
    { title: 'IDENTITY', value: ({ match }) => match?.identity ?? '-' },
    { title: 'SCOPE', value: ({ match }) => (match ? identityWords(match.identity) : '-') },
    { title: 'TUNNEL', value: ({ match }) => match?.tunnelEndpoint ?? '-' },
    { title: 'KEY', value: ({ match }) => match?.encryptKey ?? '-' },
    { title: 'LABELS', value: ({ match, labelsOf }) => match && labelsOf(match.identity)?.labels.join(' ') },
  ],
  empty: 'no addresses',
  json: answerJson,
};

const CHAIN_COLUMNS: readonly Column<Hidden>[] = [
  { title: 'PREFIX', value: ({ entry }) => entry.prefix },
  { title: 'IDENTITY', value: ({ entry }) => entry.identity },
  { title: 'SCOPE', value: ({ entry }) => identityWords(entry.identity) },
  { title: 'TUNNEL', value: ({ entry }) => entry.tunnelEndpoint ?? '-' },
  { title: 'KEY', value: ({ entry }) => entry.encryptKey },
  { title: 'FLAGS', value: ({ entry }) => entry.flagNames.join(',') || '-' },
  { title: 'HIDES', value: ({ entry, hides }) => (hides ? `${hides.prefix}${difference(entry, hides)}` : '-') },
  { title: 'WARNINGS', value: ({ entry }) => entry.warnings.join(', ') },
];

function* chainLines(model: GetModel, paint: Paint): Iterable<string> {
  yield '';
  yield* renderTable(CHAIN_COLUMNS, hidden(model.explanation), paint);
}

/** Each entry of the chain with the one that answers when it goes. */
function hidden({ chain }: Explanation): Hidden[] {
  return chain.map(({ entry }, i) => ({ entry, hides: chain[i + 1]?.entry }));
}

/** What is lost or gained by the narrower entry, in words. */
function difference(entry: IpcacheEntry, wider: IpcacheEntry): string {
  const parts = [
    entry.identity === wider.identity ? '' : `identity ${wider.identity}`,
    entry.tunnelEndpoint === wider.tunnelEndpoint ? '' : `tunnel ${wider.tunnelEndpoint ?? 'none'}`,
    entry.encryptKey === wider.encryptKey ? '' : `key ${wider.encryptKey}`,
  ].filter((part) => part !== '');
  return parts.length === 0 ? ' (the same)' : ` (${parts.join(', ')})`;
}

function answerJson(model: GetModel): JsonObject {
  const { query, match, explanation, warnings, labelsOf, why } = model;
  const json = (entry: IpcacheEntry) => entryJson(entry, { labels: labelsOf(entry.identity) });
  return {
    query,
    match: match ? json(match) : null,
    chain: hidden(explanation).map(({ entry, hides }) => ({
      ...json(entry),
      ...(hides && { hides: hiddenJson(hides) }),
    })),
    ...(warnings.length > 0 && { warnings }),
    ...(why && { why: whyJson(why) }),
  };
}

/** What the narrower entry keeps from being found. */
function hiddenJson({ prefix, identity, tunnelEndpoint, encryptKey }: IpcacheEntry): JsonObject {
  return { prefix, identity, tunnelEndpoint, encryptKey };
}
