import type { ReportView } from './view.ts';

export interface CountModel {
  readonly map: { readonly id: number; readonly pin?: string | undefined; readonly layout: string };
  readonly entries: number;
  readonly complete: boolean;
}

/** `ipc dump --count`: a bare number for people and shells. */
export const countView: ReportView<CountModel> = {
  kind: 'dump',
  json: ({ map, entries, complete }) => ({ map, complete, summary: { entries }, items: [] }),
  text: ({ entries }) => [String(entries)],
};
