/** The report of `ipc diff --html`: one page that needs nothing but itself, to be mailed or kept. */
import { CHANGE_CLASSES, type ChangeClass, SEVERITY } from '../../diff/change-class.ts';
import type { ReadSide } from '../../diff/compare-readings.ts';
import type { DiffModel } from '../diff-view.ts';
import { HINTS, migrationWords } from '../diff-words.ts';
import { churnPanels } from './churn-panels.ts';
import { CLASS_COLOURS, churnSvg } from './churn-svg.ts';
import { diffRows, MOST_ROWS, type PageRow } from './diff-rows.ts';
import { escapeHtml } from './escape-html.ts';
import { STYLE } from './style.ts';

/** With the pictures, which have at most 1.5 MB, and the summary the page stays below 5 MB: what a mail takes. */
const ROOM_FOR_ROWS = 3_000_000;
const LONGEST_MESSAGE = 600;

/** The whole page; at most 5 MB and 5000 rows, the most severe ones. */
export function diffPage(model: DiffModel): string {
  const { findings } = model;
  const { rows, shown } = tableRows(diffRows(model));
  const rest = findings.size - shown;
  return (
    `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>ipc diff: ${findings.size} findings</title>` +
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">` +
    `<meta name="viewport" content="width=device-width, initial-scale=1"><style>${STYLE}</style></head><body>` +
    `<h1>ipc diff</h1>${sources(model)}${summary(model)}${churn(model)}` +
    `<h2>Findings</h2>${table(rows)}` +
    (rest > 0 ? `<p class="rest">${rest} more are not shown: ipc diff --json lists all.</p>` : '') +
    '</body></html>\n'
  );
}

function sources({ before, after, by, findings: { comparison } }: DiffModel): string {
  const row = (name: string, source: string, { header, entries }: ReadSide): string => {
    const { node = '', cluster = '', time, map } = header;
    const cells = [name, source, node, cluster, time, `${map.layout}, id ${map.id}`, String(entries)];
    return `<tr>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`;
  };
  const [a, b] = by === 'labels' ? ['one node', 'the other'] : ['before', 'after'];
  return (
    '<table class="sources"><thead><tr><th></th><th>source</th><th>node</th><th>cluster</th><th>time</th><th>map</th>' +
    `<th>entries</th></tr></thead><tbody>${row(a, before, comparison.before)}${row(b, after, comparison.after)}</tbody></table>` +
    (comparison.before.complete && comparison.after.complete ? '' : '<p class="bad">One side is incomplete.</p>')
  );
}

function summary({ findings, by }: DiffModel): string {
  const tiles = CHANGE_CLASSES.map((name) => {
    const count = findings.counts[name];
    return `<li class="${count === 0 ? 'none' : SEVERITY[name]}" title="${escapeHtml(HINTS[name])}">${swatch(name)}<b>${count}</b> ${name}</li>`;
  });
  const known = findings.migrations.map((migration) => escapeHtml(migrationWords(migration)));
  if (by === 'labels') known.push(`${findings.notes.own} entries where a node sees itself`);
  if (by === 'labels') known.push(`${findings.notes.local} local prefixes on one side only`);
  if (findings.notes.unlabelled > 0) known.push(`${findings.notes.unlabelled} local entries without known labels`);
  const list = known.map((words) => `<li>${words}</li>`).join('');
  return `<h2>Summary</h2><ul class="tiles">${tiles.join('')}</ul>${list && `<h3>Expected changes</h3><ul>${list}</ul>`}`;
}

function churn({ findings }: DiffModel): string {
  const panels = (['ipv4', 'ipv6'] as const).flatMap((family) => churnPanels(findings, family).map(churnSvg));
  return panels.length === 0 ? '' : `<h2>Where in the address space</h2><div class="panels">${panels.join('')}</div>`;
}

function tableRows(rows: Iterable<PageRow>): { rows: string; shown: number } {
  let text = '';
  let bytes = 0;
  let shown = 0;
  for (const { name, also, prefix, message } of rows) {
    const words = message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)} …` : message;
    const kinds = [name, ...also].map((kind) => `${swatch(kind)}${kind}`).join('<br>');
    const row = `<tr class="${SEVERITY[name]}"><td>${SEVERITY[name]}</td><td>${kinds}</td><td>${escapeHtml(prefix)}</td><td>${escapeHtml(words)}</td></tr>\n`;
    bytes += Buffer.byteLength(row);
    if (shown === MOST_ROWS || bytes > ROOM_FOR_ROWS) break;
    text += row;
    shown++;
  }
  return { rows: text, shown };
}

function table(rows: string): string {
  if (rows === '') return '<p>Nothing was found.</p>';
  return `<table class="findings"><thead><tr><th>severity</th><th>what</th><th>prefix</th><th></th></tr></thead><tbody>${rows}</tbody></table>`;
}

function swatch(name: ChangeClass): string {
  return `<i style="background:${CLASS_COLOURS[name]}"></i>`;
}
